import { internalError, plainError } from "../../../base/api/api-error.ts";
import { invalidField } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { Random } from "../../../base/util/random.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { NODE_PORTS, printNodePorts, readNodePorts } from "../../types/range-allocation.ts";
import {
  mayHaveNodePorts,
  needsHealthCheck,
  nodePortsOf,
  type ServiceSpec,
  specOf,
  wantsNodePorts,
} from "../../types/service.ts";
import { refuse } from "./service-refusal.ts";

/** The lower band is reserved for static nodePorts (KEP-3668). */
const LOWER_BAND = 86;
const DRY_RUN_BASE = 32_768;
const TAKEN = "provided port is already allocated";
const OUTSIDE = `provided port is not in the valid range. The range of valid ports is ${NODE_PORTS.low}-${NODE_PORTS.high}`;
const FULL = "range is full";

/** nodePorts being allocated for one Service. */
interface Choice {
  readonly chosen: ReadonlySet<number>;
  /** Allocates a nodePort. Returns the reason if that is not possible, undefined on success. */
  choose(port: number): string | undefined;
  /** Allocates any nodePort; undefined if the range is full. */
  chooseAny(): number | undefined;
}

function chooseFrom(taken: ReadonlySet<number>, random: Random): Choice {
  const chosen = new Set<number>();
  const isFree = (port: number) => !taken.has(port) && !chosen.has(port);
  const search = (low: number, high: number) => {
    const count = high - low + 1;
    const start = random.integer(count);
    for (let step = 0; step < count; step++) {
      const port = low + ((start + step) % count);
      if (isFree(port)) return port;
    }
    return undefined;
  };
  return {
    chosen,
    choose(port) {
      if (port < NODE_PORTS.low || port > NODE_PORTS.high) return OUTSIDE;
      if (!isFree(port)) return TAKEN;
      chosen.add(port);
      return undefined;
    },
    chooseAny() {
      const { low, high } = NODE_PORTS;
      const port = search(low + LOWER_BAND, high) ?? search(low, low + LOWER_BAND - 1);
      if (port !== undefined) chosen.add(port);
      return port;
    },
  };
}

/**
 * Compat: a dry run of upstream's `PortAllocationOperation` allocates ports from 32768 on and does not check the range.
 */
function pretend(taken: ReadonlySet<number>): Choice {
  const chosen = new Set<number>();
  let highest: number | undefined;
  const add = (port: number) => {
    chosen.add(port);
    highest = Math.max(highest ?? port, port);
    return port;
  };
  return {
    chosen,
    choose(port) {
      if (taken.has(port) || chosen.has(port)) return TAKEN;
      add(port);
      return undefined;
    },
    chooseAny: () => add((highest ?? DRY_RUN_BASE) + 1),
  };
}

/**
 * Allocates the nodePorts and the healthCheckNodePort that a Service needs. Returns the newly allocated ones. Throws if
 * one is not available.
 */
export async function takeNodePorts(
  access: ObjectAccess,
  service: KubeObject,
  previous: KubeObject | undefined,
  dryRun: boolean,
): Promise<number[]> {
  const spec = specOf(service);
  const old = previous && specOf(previous);
  if (!mayHaveNodePorts(spec)) return [];
  if (old) refuseDuplicateNodePorts(spec);
  if (dryRun) {
    write(spec, choosePorts(service, old, pretend(readNodePorts(await access.findRecord(NODE_PORTS.place)))));
    return [];
  }
  if (old && needsNoPort(spec, old)) return [];
  let result: Chosen = { ports: [], health: 0, taken: [] };
  await access.changeRecord(NODE_PORTS.place, (record) => {
    const taken = readNodePorts(record);
    result = choosePorts(service, old, chooseFrom(taken, access.random));
    return result.taken.length === 0 ? undefined : printNodePorts(new Set([...taken, ...result.taken]));
  });
  write(spec, result);
  return result.taken;
}

/** Whether an update changes no nodePorts, so that the RangeAllocation need not be read. */
function needsNoPort(spec: ServiceSpec, old: ServiceSpec): boolean {
  const known = nodePortsOf(old);
  const ports = spec.ports ?? [];
  const isSettled = ports.every(({ nodePort = 0 }) =>
    nodePort === 0 ? !wantsNodePorts(spec) : known.includes(nodePort),
  );
  return isSettled && (!needsHealthCheck(spec) || needsHealthCheck(old));
}

/** Compat: an update that names the same nodePort twice fails with 500 "duplicate nodePort". */
function refuseDuplicateNodePorts({ ports = [] }: ServiceSpec): void {
  const seen = new Set<string>();
  for (const { nodePort = 0, protocol = "" } of ports) {
    const identity = `{${protocol} ${nodePort}}`;
    if (nodePort !== 0 && seen.has(identity)) throw plainError(500, `duplicate nodePort: ${identity}`);
    seen.add(identity);
  }
}

/** Releases nodePorts. */
export async function releaseNodePorts(access: ObjectAccess, ports: readonly number[]): Promise<void> {
  if (ports.length === 0) return;
  await access.changeRecord(NODE_PORTS.place, (record) => {
    const taken = readNodePorts(record);
    const before = taken.size;
    for (const port of ports) taken.delete(port);
    return taken.size === before ? undefined : printNodePorts(taken);
  });
}

interface Chosen {
  /** By the index of the port in the Service; 0 means no nodePort. */
  readonly ports: readonly number[];
  readonly health: number;
  readonly taken: number[];
}

function write(spec: ServiceSpec, { ports, health }: Chosen): void {
  for (const [index, port] of (spec.ports ?? []).entries()) if (ports[index]) port.nodePort = ports[index];
  if (health !== 0) spec.healthCheckNodePort = health;
}

function choosePorts(service: KubeObject, old: ServiceSpec | undefined, choice: Choice): Chosen {
  const spec = specOf(service);
  const ports = old ? changedPorts(service, old, choice) : newPorts(service, choice);
  const needsHealth = needsHealthCheck(spec) && !(old && needsHealthCheck(old));
  const health = needsHealth ? healthPort(spec, choice) : (spec.healthCheckNodePort ?? 0);
  return { ports, health, taken: [...choice.chosen] };
}

/** ServicePorts with the same number, for different protocols, share a nodePort. */
function newPorts(service: KubeObject, choice: Choice): number[] {
  const spec = specOf(service);
  const { ports = [] } = spec;
  const shared = new Map<number, number>();
  const wishes = new Map<number, number>();
  for (const { port = 0, nodePort } of ports) if (nodePort && !wishes.has(port)) wishes.set(port, nodePort);
  return ports.map(({ port = 0, nodePort = 0 }, index) => {
    if (nodePort === 0 && !wantsNodePorts(spec)) return 0;
    const known = shared.get(port);
    if (known !== undefined) {
      if (nodePort !== 0 && nodePort !== known) choose(service, choice, index, nodePort);
      return nodePort === 0 ? known : nodePort;
    }
    const wanted = wishes.get(port) ?? 0;
    const found = wanted === 0 ? chooseAny(choice) : choose(service, choice, index, wanted);
    shared.set(port, found);
    return found;
  });
}

function changedPorts(service: KubeObject, old: ServiceSpec, choice: Choice): number[] {
  const spec = specOf(service);
  const known = new Set(nodePortsOf(old));
  return (spec.ports ?? []).map(({ nodePort = 0 }, index) => {
    if (nodePort === 0) return wantsNodePorts(spec) ? chooseAny(choice) : 0;
    if (!known.has(nodePort) && !choice.chosen.has(nodePort)) choose(service, choice, index, nodePort);
    return nodePort;
  });
}

function choose(service: KubeObject, choice: Choice, index: number, port: number): number {
  const problem = choice.choose(port);
  if (problem === undefined) return port;
  throw refuse(service, [invalidField(`spec.ports[${index}].nodePort`, port, problem)]);
}

function chooseAny(choice: Choice): number {
  const port = choice.chooseAny();
  if (port === undefined) throw internalError(`failed to allocate a nodePort: ${FULL}`);
  return port;
}

function healthPort({ healthCheckNodePort: wanted = 0 }: ServiceSpec, choice: Choice): number {
  if (wanted === 0) {
    const port = choice.chooseAny();
    if (port === undefined) throw internalError(`failed to allocate a HealthCheck NodePort 0: ${FULL}`);
    return port;
  }
  const problem = choice.choose(wanted);
  if (problem === undefined) return wanted;
  throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${problem}`);
}
