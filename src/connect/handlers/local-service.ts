import type { KubeObject } from "../../api/object.ts";
import { cloneJson } from "../../lib/clone.ts";
import { specOf } from "../../types/service.ts";
import type { Handlers, LocalService } from "./handlers.ts";

/** Whoever is on this machine. */
export const LOCAL_ADDRESS = "127.0.0.1";

/**
 * The port of this machine that stands behind a port of a service, if one does. `port` is a name or a number, empty for the
 * port without a name; the function is told the name.
 */
export function localService(
  { service: ask }: Pick<Handlers, "service">,
  service: KubeObject,
  port: string | number,
): LocalService | undefined {
  if (!ask) return undefined;
  const { ports = [] } = specOf(service);
  const found = ports.find((one) => String(one.port) === String(port));
  return ask(cloneJson(service), found ? (found.name ?? "") : String(port));
}
