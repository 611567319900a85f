import type { Call } from "../../base/api/call.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import { memoize } from "../../base/util/memoize.ts";
import type { Draft } from "../../resources/model/draft.ts";
import { recordUpdate } from "../../resources/write/record-update.ts";
import type { Target, VerbContext } from "./target.ts";

const MAX_MANAGER_BYTES = 128;

/** The field manager of a write: the given one, or else the program name in the User-Agent header. */
export function managerOf(call: Call, fieldManager: string): string {
  if (fieldManager !== "") return fieldManager;
  const agent = call.request.headers["user-agent"];
  return programOf(typeof agent === "string" ? agent : "");
}

/** The program name in a User-Agent header. */
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

/** Updates managedFields after a write that is not an apply. Changes `draft`. */
export function recordManager(
  context: VerbContext,
  target: Target,
  { live, draft, manager }: { readonly live: KubeObject | undefined; readonly draft: Draft; readonly manager: string },
): Eventually<void> {
  return recordUpdate(target.resource, target.subresource, draft, {
    live,
    manager,
    now: context.resources.clock.now(),
  });
}
