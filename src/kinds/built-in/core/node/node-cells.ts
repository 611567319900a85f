import type { Column } from "../../../../base/api/columns.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import {
  AGE,
  type Cell,
  column,
  findCondition,
  NAME,
  read,
  readObjects,
  readText,
  sortedSet,
  text,
  wide,
} from "../../cells.ts";

const ROLE_PREFIX = "node-role.kubernetes.io/";

function printStatus(node: KubeObject): string {
  const ready = findCondition(node, "Ready");
  const status = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return read(node, ".spec.unschedulable") === true ? `${status},SchedulingDisabled` : status;
}

function printRoles(node: KubeObject): string {
  const roles: string[] = [];
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX)) roles.push(key.slice(ROLE_PREFIX.length));
    else if (key === "kubernetes.io/role") roles.push(value);
  }
  return sortedSet(roles.filter((role) => role !== "")).join(",") || "<none>";
}

function address(type: string): Cell {
  return (node) => {
    const found = readObjects(node, ".status.addresses").find((one) => one.type === type);
    return readText(found, ".address", "<none>");
  };
}

function printKernel(node: KubeObject): string {
  const kernel = readText(node, ".status.nodeInfo.kernelVersion", "<unknown>");
  const architecture = readText(node, ".status.nodeInfo.architecture");
  return architecture === "" ? kernel : `${kernel} (${architecture})`;
}

/** The table columns of Node. */
export const nodeColumns: readonly Column[] = [
  NAME,
  column("Status", "string", printStatus),
  column("Roles", "string", printRoles),
  AGE,
  column("Version", "string", text(".status.nodeInfo.kubeletVersion")),
  wide("Internal-IP", "string", address("InternalIP")),
  wide("External-IP", "string", address("ExternalIP")),
  wide("OS-Image", "string", text(".status.nodeInfo.osImage", "<unknown>")),
  wide("Kernel-Version", "string", printKernel),
  wide("Container-Runtime", "string", text(".status.nodeInfo.containerRuntimeVersion", "<unknown>")),
];
