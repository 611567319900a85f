import { X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isObject, type KubeObject } from "../api/object.ts";
import { pemBlocks } from "../lib/x509/pem.ts";
import type { Controller, ControllerContext } from "./controller.ts";
import { keepConfigMap } from "./kept-config-map.ts";

/** Whom this server believes, as other servers must know it who are asked through it. */
export interface ClusterAuthentication {
  /** Who signs client certificates, in PEM. */
  readonly clientCa?: string;
  /** What the proxy in front of other servers proves itself with and says. */
  readonly requestHeader?: {
    /** In PEM. */
    readonly ca: string;
    readonly usernameHeaders: readonly string[];
    readonly uidHeaders: readonly string[];
    readonly groupHeaders: readonly string[];
    readonly extraHeaderPrefixes: readonly string[];
    readonly allowedNames: readonly string[];
  };
}

/** What the loop keeps up to date. */
export interface TrustSource {
  current(): ClusterAuthentication;
  /** Tells a listener when `current` answers something else. */
  onChange(listener: () => void): void;
}

const CONTROLLER = "cluster_authentication_trust_controller";
const NAME = "extension-apiserver-authentication";
const LOOK_EVERY_MS = 60_000;
const EXPIRED_MS = 5 * 60_000;

/**
 * Keeps the ConfigMap extension-apiserver-authentication, by which aggregated API servers know whose certificates and headers
 * to believe. What other servers of the cluster have written stays; expired certificates go.
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

/** All certificates, each once, in one PEM text. Throws for a broken one, which is then reported and left as it is. */
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

/** Throws for what is no list of texts. */
function readList(text = ""): string[] {
  if (text === "") return [];
  const list: unknown = JSON.parse(text);
  if (Array.isArray(list) && list.every((item) => typeof item === "string")) return list;
  throw new Error(`${NAME} holds a list that is none of texts`);
}
