import type { Call } from "../api/call.ts";
import type { KubeObject } from "../api/object.ts";
import { memoize } from "../lib/memoize.ts";
import type { TrackingScope } from "../patch/apply/scope.ts";
import { trackUpdate } from "../patch/apply/track-update.ts";
import { trackingScopeOf } from "../resources/model/tracking-scope.ts";
import { printTime } from "../resources/write/metadata.ts";
import type { Target, VerbContext } from "./target.ts";

const MAX_MANAGER_BYTES = 128;

/** Who a write is recorded for: the given manager, or the program that the client says it is. */
export function managerOf(call: Call, fieldManager: string): string {
  if (fieldManager !== "") return fieldManager;
  const agent = call.request.headers["user-agent"];
  return programOf(typeof agent === "string" ? agent : "");
}

/** The program that a User-Agent header names. */
const programOf = memoize(readProgram, { results: 1000, textLength: 1024 });

function readProgram(agent: string): string {
  const program = agent.split("/")[0] ?? "";
  let manager = "";
  for (const character of program) {
    if (Buffer.byteLength(manager + character) > MAX_MANAGER_BYTES) break;
    if (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) manager += character;
  }
  return manager === "" ? "unknown" : manager;
}

/** What ownership of fields depends on at the endpoint that a request names. */
export function trackingScope({ resource, subresource }: Target): TrackingScope {
  return trackingScopeOf(resource, subresource);
}

/** Records who owns which field after a write that is not an apply. Changes `next`. */
export function recordManager(
  context: VerbContext,
  target: Target,
  write: { readonly live: KubeObject | undefined; readonly next: KubeObject; readonly manager: string },
): void {
  const now = printTime(context.resources.clock.now());
  const managedFields = trackUpdate(trackingScope(target), { ...write, now });
  if (managedFields === undefined) delete write.next.metadata.managedFields;
  else write.next.metadata.managedFields = managedFields;
}
