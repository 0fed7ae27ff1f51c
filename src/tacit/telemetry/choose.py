"""Which meter the settings ask for. Each library is imported only when it is the one."""

from __future__ import annotations

from tacit.errors import InvalidInput, MissingExtra
from tacit.telemetry.port import NO_METER, Meter

EXPORTERS = ("off", "prometheus", "opentelemetry")


def meter(exporter: str) -> Meter:
    """That of this process: every memory it opens is measured by the same one."""
    if exporter not in EXPORTERS:
        raise InvalidInput("metrics.exporter", f"choose one of {', '.join(EXPORTERS)}")
    if exporter == "off":
        return NO_METER
    try:
        if exporter == "prometheus":
            from prometheus_client import REGISTRY

            from tacit.telemetry import prometheus

            return prometheus.meter_of(REGISTRY)
        from opentelemetry.metrics import get_meter_provider

        from tacit.telemetry import otel

        return otel.meter_of(get_meter_provider())
    except ImportError as error:
        raise MissingExtra("metrics", f"metrics for {exporter}") from error
