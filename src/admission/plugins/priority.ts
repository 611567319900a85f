import { forbidden } from "../../api/api-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../api/object.ts";
import type { ObjectAccess } from "../../resources/definition.ts";
import { isAbout, nameIn, targetOf } from "../concerns.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

const CLASSES = { group: "scheduling.k8s.io", plural: "priorityclasses" };
const DEFAULT_POLICY = "PreemptLowerPriority";

/** Turns the names of priority classes into numbers, and keeps the default class the only one. */
export function priority(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "Priority",
    handles: (request) =>
      request.operation !== "DELETE" &&
      (isAbout(request, "", "pods") ||
        isAbout(request, CLASSES.group, CLASSES.plural) ||
        isAbout(request, CLASSES.group, "podgroups")),
    async mutate(request) {
      const { object, previous } = request;
      if (!object || !isObject(object.spec) || isAbout(request, CLASSES.group, CLASSES.plural)) return;
      if (request.operation === "CREATE") await setPriority(access, request, object.spec);
      else if (isObject(previous?.spec)) keepPriority(object.spec, previous.spec);
    },
    async validate(request) {
      const { object } = request;
      if (!isAbout(request, CLASSES.group, CLASSES.plural) || object?.globalDefault !== true) return;
      const classes = await access.list(CLASSES.group, CLASSES.plural, "");
      const other = classes.find((one) => one.globalDefault === true && one.metadata.name !== object.metadata.name);
      if (!other) return;
      const text = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
      throw forbidden(targetOf(request), nameIn(request), text);
    },
  };
}

function keepPriority(spec: JsonObject, previous: JsonObject): void {
  for (const member of ["priority", "preemptionPolicy"]) {
    if (spec[member] === undefined && previous[member] !== undefined) spec[member] = previous[member];
  }
}

async function setPriority(access: ObjectAccess, request: AdmissionRequest, spec: JsonObject): Promise<void> {
  const isPod = isAbout(request, "", "pods");
  const { value, policy, name } = await computePriority(access, request, spec);
  if (name !== undefined) spec.priorityClassName = name;
  if (typeof spec.priority === "number" && spec.priority !== value) {
    const subject = isPod ? "pod spec" : "podGroup spec";
    const text = `the integer value of priority (${spec.priority}) must not be provided in ${subject}; priority admission controller computed ${value} from the given PriorityClass name`;
    throw forbidden(targetOf(request), nameIn(request), text);
  }
  spec.priority = value;
  if (!isPod) return;
  if (typeof spec.preemptionPolicy === "string" && spec.preemptionPolicy !== policy) {
    const text = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
    throw forbidden(targetOf(request), nameIn(request), text);
  }
  spec.preemptionPolicy = policy;
}

interface Computed {
  readonly value: number;
  readonly policy: string;
  /** The class that was chosen because none was named. */
  readonly name?: string;
}

async function computePriority(access: ObjectAccess, request: AdmissionRequest, spec: JsonObject): Promise<Computed> {
  const className = spec.priorityClassName;
  if (typeof className === "string" && className !== "") {
    const found = await access.find(CLASSES.group, CLASSES.plural, { namespace: "", name: className });
    if (found) return read(found);
    throw forbidden(targetOf(request), nameIn(request), `no PriorityClass with name ${className} was found`);
  }
  const classes = await access.list(CLASSES.group, CLASSES.plural, "");
  const defaults = classes.filter((one) => one.globalDefault === true);
  const [lowest] = defaults.sort((a, b) => read(a).value - read(b).value);
  return lowest ? { ...read(lowest), name: lowest.metadata.name } : { value: 0, policy: DEFAULT_POLICY };
}

function read(priorityClass: KubeObject): Computed {
  const { value, preemptionPolicy } = priorityClass;
  return {
    value: typeof value === "number" ? value : 0,
    policy: typeof preemptionPolicy === "string" ? preemptionPolicy : DEFAULT_POLICY,
  };
}
