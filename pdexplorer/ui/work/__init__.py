"""Work beside the page, in processes of its own: what there is to do, and who does it."""
