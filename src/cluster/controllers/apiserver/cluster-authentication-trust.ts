import { X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ClusterAuthentication } from "../../../access/authentication/cluster-trust.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { pemBlocks } from "../../../base/pki/pem.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import type { Controller, ControllerContext } from "../shared/controller.ts";
import { keepConfigMap } from "./kept-config-map.ts";

/** The data that the controller publishes. */
export interface TrustSource {
  current(): ClusterAuthentication;
  /** The listener is called when the result of `current` has changed. */
  onChange(listener: () => void): void;
}

const CONTROLLER = "cluster_authentication_trust_controller";
const NAME = "extension-apiserver-authentication";
const LOOK_EVERY_MS = 60_000;
const EXPIRED_MS = 5 * 60_000;

/**
 * Keeps the ConfigMap extension-apiserver-authentication up to date. It tells aggregated API servers which client
 * certificates and proxy headers to trust. Entries of other servers of the cluster are kept; expired certificates are
 * removed.
 */
export function clusterAuthenticationTrust(context: ControllerContext, source: TrustSource): Controller {
  const { clock } = context.resources;
  const dataFor = (current: KubeObject | undefined) => {
    const known = isObject(current?.data) ? (current.data as Record<string, string>) : {};
    const next = combine(known, source.current(), clock.now());
    return isDeepStrictEqual(next, known) ? undefined : next;
  };
  let wake = (): void => {};
  source.onChange(() => wake());
  const onChange = (listener: () => void) => {
    wake = listener;
  };
  const kept = { controller: CONTROLLER, name: NAME, everyMs: LOOK_EVERY_MS, dataFor, onChange };
  return { name: CONTROLLER, run: (signal) => keepConfigMap(context, kept, signal) };
}

type Data = Record<string, string>;

/** Compat: `combinedClusterAuthenticationInfo` and `getConfigMapDataFor`. */
function combine(known: Readonly<Data>, { clientCa = "", requestHeader }: ClusterAuthentication, nowMs: number): Data {
  const certificates = (member: string, own: string) => combineCertificates([known[member] ?? "", own], nowMs);
  const data: Data = {};
  const clients = certificates("client-ca-file", clientCa);
  if (clients !== "") data["client-ca-file"] = clients;
  const proxies = certificates("requestheader-client-ca-file", requestHeader?.ca ?? "");
  if (proxies === "") return data;
  const list = (member: string, own: readonly string[] = []): string =>
    JSON.stringify([...new Set([...readList(known[member]), ...own])]);
  const uidHeaders = list("requestheader-uid-headers", requestHeader?.uidHeaders);
  return {
    ...data,
    "requestheader-allowed-names": list("requestheader-allowed-names", requestHeader?.allowedNames),
    "requestheader-client-ca-file": proxies,
    "requestheader-extra-headers-prefix": list(
      "requestheader-extra-headers-prefix",
      requestHeader?.extraHeaderPrefixes,
    ),
    "requestheader-group-headers": list("requestheader-group-headers", requestHeader?.groupHeaders),
    ...(uidHeaders === "[]" ? {} : { "requestheader-uid-headers": uidHeaders }),
    "requestheader-username-headers": list("requestheader-username-headers", requestHeader?.usernameHeaders),
  };
}

/**
 * Joins all certificates without duplicates in one PEM text. Throws for a broken certificate, which is reported; the
 * ConfigMap is not changed then.
 */
function combineCertificates(texts: readonly string[], nowMs: number): string {
  const found = new Map<string, string>();
  for (const text of texts) {
    for (const { type, bytes } of pemBlocks(text)) {
      if (type !== "CERTIFICATE") continue;
      const certificate = new X509Certificate(bytes);
      if (Date.parse(certificate.validTo) > nowMs - EXPIRED_MS)
        found.set(certificate.fingerprint256, certificate.toString());
    }
  }
  return [...found.values()].join("");
}

/** Throws if the text is not a list of strings. */
function readList(text = ""): string[] {
  if (text === "") return [];
  const list: unknown = parseJsonText(text);
  if (Array.isArray(list) && list.every((item) => typeof item === "string")) return list;
  throw new Error(`${NAME} contains a value that is not a list of strings`);
}
