import type { Node } from "../../../../kinds/types/node.ts";
import type { Controller } from "../../shared/controller.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";

const NAME = "ttl-controller";
const ANNOTATION = "node.alpha.kubernetes.io/ttl";

/** The TTL by the number of nodes. The ranges overlap, so that a number around a limit does not change it all the time. */
const STEPS = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1000, seconds: 30 },
  { min: 900, max: 2000, seconds: 60 },
  { min: 1800, max: Number.POSITIVE_INFINITY, seconds: 300 },
] as const;

/** ttl-controller: sets the annotation of nodes that says for how long kubelets cache Secrets and ConfigMaps. */
export function ttl({ resources, client, informers, report }: ManagerContext): Controller {
  const { informer: nodes } = informers.of<Node>("", "nodes");
  let count = 0;
  let step = 0;

  /** One node more or less moves by one step at most. Existing nodes get the new TTL with their next change. */
  const add = (by: number): void => {
    count += by;
    const { min = 0, max = 0 } = STEPS[step] ?? {};
    if (count > max) step += 1;
    else if (count < min) step -= 1;
  };

  const controller = loop({
    name: NAME,
    workers: 5,
    clock: resources.clock,
    report,
    sources: [
      source(nodes, (queue) => (before, after) => {
        add(Number(after !== undefined) - Number(before !== undefined));
        if (after) queue.add(keyOf(after));
      }),
    ],
    async sync(name) {
      const node = nodes.get(name);
      const seconds = STEPS[step]?.seconds ?? 0;
      if (node === undefined || isSameNumber(node.metadata.annotations?.[ANNOTATION], seconds)) return;
      const patch = { metadata: { annotations: { [ANNOTATION]: String(seconds) } } };
      await client.patch(nodes.resource, { namespace: "", name }, patch, { isStrategic: true });
    },
  });
  return {
    name: NAME,
    run: (signal) => {
      count = 0;
      step = 0;
      return controller.run(signal);
    },
  };
}

/** Compat: strconv.Atoi also accepts a sign and leading zeros. */
function isSameNumber(text: string | undefined, wanted: number): boolean {
  return text !== undefined && /^[+-]?\d+$/.test(text) && Number(text) === wanted;
}
