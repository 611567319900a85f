import { isObject, type KubeObject } from "../api/object.ts";

/** Which Service an APIService names. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The condition `Available` of an APIService. */
export interface Availability {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** An APIService whose group version another server serves. */
export interface RemoteApi {
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly version: string;
  readonly service: ServiceReference;
  /** PEM of the authorities that its certificate is checked by. Absent: those of the system. */
  readonly authority: string | undefined;
  readonly skipsVerification: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Absent: nobody has looked yet. */
  readonly availability: Availability | undefined;
  readonly object: KubeObject;
}

/** What an APIService says, if it names another server. */
export function remoteApi(object: KubeObject): RemoteApi | undefined {
  const spec = isObject(object.spec) ? object.spec : {};
  const { service } = spec;
  if (!isObject(service)) return undefined;
  const { name = "", uid = "" } = object.metadata;
  const bundle = textOf(spec.caBundle);
  return {
    name,
    uid,
    group: textOf(spec.group),
    version: textOf(spec.version),
    service: { namespace: textOf(service.namespace), name: textOf(service.name), port: Number(service.port ?? 443) },
    authority: bundle === "" ? undefined : Buffer.from(bundle, "base64").toString(),
    skipsVerification: spec.insecureSkipTLSVerify === true,
    groupPriority: Number(spec.groupPriorityMinimum ?? 0),
    versionPriority: Number(spec.versionPriority ?? 0),
    availability: availabilityOf(object),
    object,
  };
}

function availabilityOf({ status }: KubeObject): Availability | undefined {
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  const found = conditions.find((one) => isObject(one) && one.type === "Available");
  if (!isObject(found)) return undefined;
  const { status: value, reason, message, lastTransitionTime } = found;
  return {
    status: textOf(value),
    reason: textOf(reason),
    message: textOf(message),
    lastTransitionTime: textOf(lastTransitionTime),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
