"""Every text a person reads, by id, in English and Simplified Chinese, and numbers as they are written."""
