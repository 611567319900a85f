import { isObject } from "../../../base/api/object.ts";
import type { Controller, ControllerContext } from "../shared/controller.ts";
import { keepConfigMap } from "./kept-config-map.ts";

const CONTROLLER = "legacy_token_tracking_controller";
const NAME = "kube-apiserver-legacy-service-account-token-tracking";
const MEMBER = "since";
/** Compat: `creationRatelimiter`, so that servers that track and servers that do not cannot alternate all the time. */
const CREATE_EVERY_MS = 30 * 60_000;
const LOOK_EVERY_MS = 12 * 3_600_000;

/**
 * Keeps the ConfigMap with the date since which the use of tokens from Secrets is recorded. The controller manager
 * needs it to tell how long a token has been unused.
 */
export function legacyTokenTracking(context: ControllerContext): Controller {
  const { clock } = context.resources;
  let createdMs = Number.NEGATIVE_INFINITY;
  return {
    name: CONTROLLER,
    run: (signal) =>
      keepConfigMap(
        context,
        {
          controller: CONTROLLER,
          name: NAME,
          everyMs: LOOK_EVERY_MS,
          dataFor(current) {
            const data = isObject(current?.data) ? (current.data as Record<string, string>) : {};
            if (current && isDate(data[MEMBER] ?? "")) return undefined;
            const nowMs = clock.monotonic();
            if (!current && nowMs - createdMs < CREATE_EVERY_MS) return undefined;
            if (!current) createdMs = nowMs;
            return { ...data, [MEMBER]: new Date(clock.now()).toISOString().slice(0, 10) };
          },
        },
        signal,
      ),
  };
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
