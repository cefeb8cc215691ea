"""The catalogue: accelerators, links, models and engines, with the source of every figure."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.engine import EngineProfile
from pdexplorer.catalog.hardware import Accelerator, Link
from pdexplorer.catalog.overrides import overridden, unknown_id
from pdexplorer.catalog.read_accelerators import (
    ACCELERATOR_FIELDS,
    is_unsupported,
    read_accelerators,
    with_figures,
)
from pdexplorer.catalog.read_links import (
    ENGINE_FIELDS,
    LINK_FIELDS,
    engine_with_figures,
    link_with_figures,
    read_engines,
    read_links,
)
from pdexplorer.catalog.read_models import ModelRecord, read_models
from pdexplorer.catalog.records import data_tables
from pdexplorer.infeasible import Infeasible


@functools.cache
def load_catalog() -> "Catalog":
    """The catalogue that travels with the package. ValueError where a figure has no source or kind."""
    accelerators: dict[str, Accelerator] = {}
    links: dict[str, Link] = {}
    engines: dict[str, EngineProfile] = {}
    for file, content in data_tables("accelerators"):
        accelerators |= read_accelerators(file, content)
    for file, content in data_tables("links"):
        links |= read_links(file, content)
    for file, content in data_tables("engines"):
        engines |= read_engines(file, content)
    return Catalog(accelerators, links, read_models(dict(data_tables("models"))), engines)


def required(accelerator: Accelerator, field: str) -> float | Infeasible:
    """One figure of a device in the unit its field ends in, or why nothing that needs it can be said.

    Raises ValueError for a field the catalogue does not know.
    """
    if field not in ACCELERATOR_FIELDS:
        raise ValueError(
            f"{field} is not a figure of an accelerator; allowed: {', '.join(ACCELERATOR_FIELDS)}"
        )
    figure = accelerator.figures.get(field)
    if figure is not None and figure.value is not None:
        return figure.value
    if is_unsupported(accelerator, field):
        return Infeasible("format", f"{accelerator.id} has no units for {field}: its weights compute in bf16")
    return Infeasible(
        "missing_figure",
        f"no published figure for {accelerator.id} {field}; set overrides.{accelerator.id}.{field} yourself",
    )


@dataclass(frozen=True)
class Catalog:
    """Everything by id. Immutable; `with_overrides` gives another one."""

    accelerators: Mapping[str, Accelerator]
    links: Mapping[str, Link]
    model_records: Mapping[str, ModelRecord]
    engines: Mapping[str, EngineProfile]

    @functools.cached_property
    def models(self) -> Mapping[str, Architecture]:
        return {name: record.architecture for name, record in self.model_records.items()}

    @functools.cached_property
    def model_sources(self) -> Mapping[str, str]:
        return {name: record.source for name, record in self.model_records.items()}

    def with_overrides(self, overrides: Mapping[str, Mapping[str, float]]) -> "Catalog":
        """This catalogue with figures set by hand, by id and field in catalogue units.

        {"ascend_910b": {"memory_bandwidth_gb_per_s": 1600}}. The rate of a format a chip has no units for
        cannot be set. ValueError in one line for an unknown id or field or a value out of bounds.
        """
        if not overrides:
            return self
        accelerators, links, engines = dict(self.accelerators), dict(self.links), dict(self.engines)
        for key, values in overrides.items():
            if device := accelerators.get(key):
                allowed = [field for field in ACCELERATOR_FIELDS if not is_unsupported(device, field)]
                accelerators[key] = with_figures(device, overridden(key, device.figures, values, allowed))
            elif link := links.get(key):
                links[key] = link_with_figures(link, overridden(key, link.figures, values, LINK_FIELDS))
            elif engine := engines.get(key):
                engines[key] = engine_with_figures(
                    engine, overridden(key, engine.figures, values, ENGINE_FIELDS)
                )
            else:
                raise unknown_id(key, values, [*accelerators, *links, *engines])
        return replace(self, accelerators=accelerators, links=links, engines=engines)
