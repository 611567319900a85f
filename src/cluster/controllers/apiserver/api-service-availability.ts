import type { JsonObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { WorkQueue } from "../../../base/util/work-queue.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { StoredIndex } from "../../../resources/read/stored-index.ts";
import { readObject } from "../../../resources/stored-kinds.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import type { RemoteApi } from "../../../serving/aggregation/api-service.ts";
import { apiServiceResource } from "../../../serving/aggregation/api-service-index.ts";
import {
  type AvailabilityOptions,
  checkAvailability,
  type Finding,
} from "../../../serving/aggregation/availability.ts";
import { type Controller, type ControllerContext, unlessCode } from "../shared/controller.ts";

const REPEAT_MS = 30_000;
const WORKERS = 5;

/**
 * Checks the extension servers behind APIServices and updates their Available condition. Runs every 30 seconds, and
 * after changes of an APIService, its Service or its endpoints. Upstream: `AvailableConditionController`, which every
 * kube-apiserver runs.
 */
export function apiServiceAvailability(context: ControllerContext, options: AvailabilityOptions): Controller {
  const name = "remote_available_controller";
  const { resources, report } = context;
  const { index, client, resolve, discovered, read } = options;
  return {
    name,
    async run(signal) {
      const queue: WorkQueue<string> = new WorkQueue({
        clock: resources.clock,
        concurrency: WORKERS,
        work: async (key) => {
          const api = [...index.all].find((one) => one.name === key);
          if (!api) return;
          const finding = await checkAvailability(api, { access: resources.access, client, resolve }, signal);
          signal.throwIfAborted();
          discovered(api, finding.resources);
          await writeFinding(context, api, finding);
          if (finding.resources !== undefined) await read(api, signal);
          queue.addAfter(key, REPEAT_MS);
        },
        onError: (error) => {
          if (!signal.aborted) report(name, error);
        },
      });
      const seen = new Map<string, string>();
      const enqueue = () => {
        for (const api of index.all) {
          // Changes of status by this controller itself trigger no new check.
          const wanted = JSON.stringify([api.uid, api.object.spec ?? {}]);
          if (seen.get(api.name) === wanted) continue;
          seen.set(api.name, wanted);
          queue.add(api.name);
        }
      };
      const serviceChanged = (service: string) => {
        for (const { name: key, service: one } of index.all) {
          if (`${one.namespace}/${one.name}` === service) queue.add(key);
        }
      };
      const unsubscribe = index.subscribe(enqueue);
      enqueue();
      try {
        await Promise.all(followed(context, serviceChanged).map((one) => one.run(signal)));
      } finally {
        unsubscribe();
        await queue.close();
      }
    },
  };
}

const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/** Follows Services and their EndpointSlices, and reports which Service changed. */
function followed(
  { resources }: ControllerContext,
  changed: (service: string) => void,
): Pick<StoredIndex<string>, "run">[] {
  const { store, keys, codec, catalog } = resources;
  const notify = { change: (previous?: string, next?: string) => changed(next ?? previous ?? "") };
  return [["", "services"] as const, ["discovery.k8s.io", "endpointslices"] as const].map(
    ([group, plural]) =>
      new StoredIndex<string>({
        store,
        prefix: keys.prefix(storedResource(catalog, group, plural).definition),
        read: (entry) => {
          const { name = "", namespace = "", labels } = readObject(codec, entry)?.metadata ?? {};
          return `${namespace}/${group === "" ? name : (labels?.[SERVICE_NAME_LABEL] ?? "")}`;
        },
        derive: () => notify,
      }),
  );
}

async function writeFinding(
  { resources, client }: ControllerContext,
  { object, availability }: RemoteApi,
  { status, reason, message }: Finding,
): Promise<void> {
  const { status: before, reason: was, message: said, lastTransitionTime } = availability ?? {};
  if (before === status && was === reason && said === message) return;
  const next = cloneJson(object);
  const since = before === status && lastTransitionTime ? lastTransitionTime : printTime(resources.clock.now());
  const condition: JsonObject = { type: "Available", status, lastTransitionTime: since, reason, message };
  const known = (next.status as { conditions?: JsonObject[] } | undefined)?.conditions ?? [];
  next.status = { conditions: [...known.filter(({ type }) => type !== "Available"), condition] };
  await client.update(apiServiceResource(resources), next, { subresource: "status" }).catch(unlessCode(404, 409));
}
