import type { Secret } from "../../../../kinds/types/secret.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { isBootstrapToken, lifetimeMs } from "./bootstrap-token.ts";

/** token-cleaner-controller: deletes bootstrap tokens when they expire. */
export function tokenCleaner({ resources, client, informers, report }: ManagerContext): Controller {
  const { clock } = resources;
  const { informer: secrets } = informers.of<Secret>("", "secrets");
  return loop({
    name: "token-cleaner-controller",
    workers: 1,
    clock,
    report,
    sources: [
      source(secrets, (queue) => (_, after) => {
        if (after && isBootstrapToken(after)) queue.add(keyOf(after));
      }),
    ],
    async sync(key, queue) {
      const secret = secrets.get(key);
      if (!secret || !isBootstrapToken(secret)) return;
      const leftMs = lifetimeMs(secret, clock.now());
      if (leftMs === Number.POSITIVE_INFINITY) return;
      if (leftMs > 0) return queue.addAfter(key, leftMs);
      const { namespace = "", name = "", uid } = secret.metadata;
      const options = { preconditions: { uid } };
      await client.delete(secrets.resource, { namespace, name }, options).catch(unlessCode(404, 409));
    },
  });
}
