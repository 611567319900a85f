import { isObject, type KubeObject } from "../../base/api/object.ts";
import type { ServiceReference } from "../../base/net/service-backend.ts";

/** The condition `Available` of an APIService. */
export interface Availability {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** An APIService whose group version an extension server serves. */
export interface RemoteApi {
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly version: string;
  readonly service: ServiceReference;
  /** PEM of the CAs that verify its certificate. Undefined: the CAs of the system. */
  readonly ca: string | undefined;
  readonly skipsVerification: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Undefined if availability has not been checked yet. */
  readonly availability: Availability | undefined;
  readonly object: KubeObject;
}

/** Parses an APIService. Undefined if it does not name an extension server. */
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
    ca: bundle === "" ? undefined : Buffer.from(bundle, "base64").toString(),
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
