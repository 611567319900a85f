import type { Log } from "../../base/util/environment.ts";
import type { Connection } from "../library/client/connection.ts";
import { ADMINISTRATOR } from "../server/identity.ts";
import { followingClock } from "./clock.ts";
import type { World } from "./world.ts";

/** Connects clients in this process to the current world of a control plane, and to its clock. */
export function connectTo(current: () => World, log: Log): Connection {
  const clock = followingClock(() => current().clock);
  return { clock, log, administrator: ADMINISTRATOR, call: (request) => current().call(request) };
}
