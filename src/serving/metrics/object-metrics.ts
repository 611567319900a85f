import type { Labels, MetricRegistry } from "../../base/metrics/metrics.ts";
import { SeriesBy } from "../../base/metrics/series-by.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import type { VerbObserver } from "../verbs/target.ts";

const EVENT_BOUNDS = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072] as const;
const SERIES_LIMIT = 5000;

/** Counts what lists read and what watches send, under kube-apiserver's metric names. */
export function objectMetrics(registry: MetricRegistry): VerbObserver {
  const limit = SERIES_LIMIT;
  const labels = ["group", "resource", "version"] as const;
  const events = new SeriesBy(
    registry.counter({
      name: "apiserver_watch_events_total",
      help: "[BETA] Number of events sent in watch clients",
      labels,
      limit,
    }),
    servedLabels,
  );
  const sizes = new SeriesBy(
    registry.histogram({
      name: "apiserver_watch_events_sizes",
      help: "[BETA] Watch event size distribution in bytes",
      labels,
      bounds: EVENT_BOUNDS,
      limit,
    }),
    servedLabels,
  );
  const listed = (name: string, help: string, hasIndex: boolean) =>
    new SeriesBy(
      registry.counter<string>({
        name: `apiserver_storage_list_${name}`,
        help: `[ALPHA] ${help}`,
        labels: ["group", "resource", "storage", ...(hasIndex ? ["index"] : [])],
        limit,
      }),
      // Differs: all lists are served from memory. kube-apiserver's `storage` label is "etcd" for lists that are not.
      ({ group, plural }: ResourceDefinition): Labels<string> => ({
        ...{ group, resource: plural, storage: "watchcache" },
        ...(hasIndex ? { index: "" } : {}),
      }),
    );
  const total = listed("total", "Number of LIST requests served from storage", true);
  const fetched = listed(
    "fetched_objects_total",
    "Number of objects read from storage in the course of serving a LIST request",
    true,
  );
  const evaluated = listed(
    "evaluated_objects_total",
    "Number of objects tested in the course of serving a LIST request from storage",
    false,
  );
  const returned = listed(
    "returned_objects_total",
    "Number of objects returned for a LIST request from storage",
    false,
  );
  return {
    listed: ({ definition }, list) => {
      total.of(definition).add();
      fetched.of(definition).add(list.fetched);
      evaluated.of(definition).add(list.evaluated);
      returned.of(definition).add(list.returned);
    },
    watched: (resource) => {
      const count = events.of(resource);
      const size = sizes.of(resource);
      return (bytes) => {
        count.add(bytes.length);
        for (const one of bytes) size.observe(one);
      };
    },
  };
}

function servedLabels({ definition, version }: ServedResource) {
  return { group: definition.group, resource: definition.plural, version: version.name };
}
