import type { Endpoints } from "../../../../kinds/types/endpoints.ts";
import type { Service } from "../../../../kinds/types/service.ts";
import type { Controller } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { ManagedSlices } from "../endpointslice/managed-slices.ts";
import { selectorOf } from "../endpointslice/selected-pods.ts";
import { MANAGER, MAX_ADDRESSES, planMirror } from "./mirror-plan.ts";

const NAME = "endpointslice-mirroring-controller";
const SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";
const LEADER = "control-plane.alpha.kubernetes.io/leader";
const RETRIES = { minBackoffMs: 1000, maxBackoffMs: 100_000, retriesPerSecond: 10, retryBurst: 100 };

/** endpointslice-mirroring-controller: copies Endpoints of Services without a selector to EndpointSlices. */
export function endpointSliceMirroring(context: ManagerContext): Controller {
  const { resources, informers, report } = context;
  const { informer: services } = informers.of<Service>("", "services");
  const { informer: endpoints } = informers.of<Endpoints>("", "endpoints");
  const slices = new ManagedSlices(context, MANAGER, 0);
  const recorder = new EventRecorder(context, "endpoint-slice-mirroring-controller");

  const mirror = async (key: string, one: Endpoints): Promise<void> => {
    const { changes, invalid, skipped } = planMirror(endpoints.resource, one, slices.of(key));
    if (invalid > 0) {
      const message = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
      recorder.record(endpoints.resource, one, "Warning", "InvalidIPAddress", message);
    }
    if (skipped > invalid) {
      const message = `A max of ${MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
      recorder.record(endpoints.resource, one, "Warning", "TooManyAddressesToMirror", message);
    }
    await slices.write(changes, `Endpoints ${key}`);
  };

  return loop({
    name: NAME,
    workers: 5,
    clock: resources.clock,
    report,
    retries: RETRIES,
    sources: [
      source(endpoints, (queue) => (before, after) => {
        const changed = after ?? before;
        const isMirrored = (before && mayMirror(before)) || (after && mayMirror(after));
        if (changed && isMirrored) queue.add(keyOf(changed));
      }),
      source(services, (queue) => (before, after) => {
        const changed = after ?? before;
        const isSelecting = (service: Service | undefined) => service && selectorOf(service) !== undefined;
        const isSame = before && after && isSelecting(before) === isSelecting(after);
        if (changed && !isSame && (!isSelecting(changed) || before)) queue.add(keyOf(changed));
      }),
      slices.source,
    ],
    async sync(key, queue) {
      const one = endpoints.get(key);
      const service = services.get(key);
      const isMirrored = one && mayMirror(one) && service && selectorOf(service) === undefined;
      await slices.during(key, queue, async () => {
        if (isMirrored) return mirror(key, one);
        for (const slice of slices.of(key)) await slices.delete(slice);
      });
    },
  });
}

function mayMirror({ metadata: { labels = {}, annotations = {} } }: Endpoints): boolean {
  return labels[SKIP_MIRROR] !== "true" && !Object.hasOwn(annotations, LEADER);
}
