import type { Call } from "../api/call.ts";
import type { KubeObject } from "../api/object.ts";
import type { Eventually } from "../lib/eventually.ts";
import { memoize } from "../lib/memoize.ts";
import type { Draft } from "../resources/model/draft.ts";
import { recordUpdate } from "../resources/write/record-update.ts";
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

/** Records who owns which field after a write that is not an apply. Changes `draft`. */
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
