import type { KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { specOf } from "../../../kinds/types/service.ts";
import type { Handlers, LocalService } from "./handlers.ts";

/** Address of local services. */
export const LOCAL_ADDRESS = "127.0.0.1";

/**
 * The local port behind a port of a service. Undefined if there is none. `port` is a name or number, or empty for the
 * unnamed port; the handler receives the name.
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
