import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { readPrivate, requirePrivate, writeWhole } from "../files/private-file.ts";
import { firstAddress } from "../net/ip-address.ts";
import { type Identity, makeCa, makeIdentity, type Subject } from "./make-certificate.ts";

/** Options of the server's certificates. */
export interface CertificateOptions {
  readonly bindAddress: string;
  /** The service IP range. Its first address belongs to this server. */
  readonly serviceRange?: string;
  /** Additional names and addresses in the serving certificate. */
  readonly hosts?: readonly string[];
  readonly now?: number;
}

/** The CA and the administrator's client certificate. */
export interface AdminCertificates {
  readonly authority: Identity;
  /** A client certificate of the group system:masters, which is cluster-admin. */
  readonly admin: Identity;
}

/** All certificates of a server and its administrator. */
export interface Certificates extends AdminCertificates {
  readonly serving: Identity;
  /** The serving certificate was provided by the user, so it is not renewed automatically. */
  readonly isForeign: boolean;
}

const RENEW_MS = 30 * 86_400_000;
const CLUSTER_NAMES = [
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];
const ANY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/**
 * Loads the certificates in `directory` and creates missing ones. The CA is never replaced. Certificates that it signed
 * are renewed if the CA or key does not match, a name is missing, or they are about to expire. Compat: like
 * `MaybeDefaultWithSelfSignedCerts`, serves with the pair apiserver.crt and apiserver.key in `--cert-dir`.
 */
export async function ensureCertificates(directory: string, options: CertificateOptions): Promise<Certificates> {
  const now = options.now ?? Date.now();
  const { authority, admin } = await ensureAdmin(directory, now);
  const apiserver = await readIdentity(directory, "apiserver", readIfPresent);
  // The mode of a user's own key is up to the user.
  if (apiserver && isForeign(apiserver)) return { authority, admin, serving: apiserver, isForeign: true };
  await requirePrivate(join(directory, "apiserver.key"));
  const hosts = hostsOf(options);
  const serving = await ensure(
    directory,
    "apiserver",
    apiserver,
    (identity) => fits(identity, authority, now) && coversHosts(identity, hosts),
    () => makeServing(authority, options, now),
  );
  return { authority, admin, serving, isForeign: false };
}

/** Creates all certificates in memory. */
export function makeCertificates(options: CertificateOptions): Certificates {
  const now = options.now ?? Date.now();
  const authority = makeCa(AUTHORITY_NAME, now);
  const admin = makeAdmin(authority, now);
  return { authority, admin, serving: makeServing(authority, options, now), isForeign: false };
}

/** Creates an administrator's certificate, signed by the CA. */
export function makeAdmin(authority: Identity, now: number): Identity {
  return makeIdentity(authority, ADMIN, "client", now);
}

/** Creates a serving certificate, signed by the CA. */
export function makeServing(authority: Identity, options: CertificateOptions, now: number): Identity {
  return makeIdentity(authority, { commonName: "binnacle", hosts: hostsOf(options) }, "server", now);
}

/** Loads the CA and the administrator's certificate in `directory`. Creates or renews them if needed. */
export async function ensureAdmin(directory: string, now: number): Promise<AdminCertificates> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = ["ca", "admin"] as const;
  const [ca, client] = await Promise.all(names.map((name) => readIdentity(directory, name, readPrivate)));
  const authority = await ensure(directory, "ca", ca, isWholeIdentity, () => makeCa(AUTHORITY_NAME, now));
  const admin = await ensure(
    directory,
    "admin",
    client,
    (identity) => fits(identity, authority, now),
    () => makeAdmin(authority, now),
  );
  return { authority, admin };
}

const AUTHORITY_NAME = "binnacle-ca";

/** Whether a valid pair was signed by another CA. */
function isForeign(identity: Identity): boolean {
  return isWholeIdentity(identity) && new X509Certificate(identity.certificate).issuer !== `CN=${AUTHORITY_NAME}`;
}

/** Whether a certificate expires within 30 days. */
export function isExpiring(certificate: string, now: number): boolean {
  return Date.parse(new X509Certificate(certificate).validTo) - now <= RENEW_MS;
}

const ADMIN: Subject = { commonName: "kubernetes-admin", organizations: ["system:masters"] };

function hostsOf({ bindAddress, serviceRange, hosts = [] }: CertificateOptions): string[] {
  const service = serviceRange === undefined ? undefined : firstAddress(serviceRange);
  const bound = ANY_ADDRESS.includes(bindAddress) ? [] : [bindAddress];
  const names = ["localhost", ...CLUSTER_NAMES, "127.0.0.1", "::1", ...bound, ...(service ? [service] : []), ...hosts];
  return [...new Set(names)];
}

async function ensure(
  directory: string,
  name: string,
  known: Identity | undefined,
  isGood: (identity: Identity) => boolean,
  make: () => Identity,
): Promise<Identity> {
  if (known && isGood(known)) return known;
  const made = make();
  // Writes the key first, so that a certificate is never without its key.
  await writeWhole(join(directory, `${name}.key`), made.key);
  await writeWhole(join(directory, `${name}.crt`), made.certificate);
  return made;
}

/** A certificate with its key. Undefined if one of the files does not exist. */
async function readIdentity(
  directory: string,
  name: string,
  readKey: (file: string) => Promise<string | undefined>,
): Promise<Identity | undefined> {
  const [certificate, key] = await Promise.all([
    readIfPresent(join(directory, `${name}.crt`)),
    readKey(join(directory, `${name}.key`)),
  ]);
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a key matches its certificate. False if either is malformed, such as an empty file left by a full disk. */
export function isWholeIdentity({ certificate, key }: Identity): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function fits(identity: Identity, authority: Identity, now: number): boolean {
  if (!isWholeIdentity(identity)) return false;
  const certificate = new X509Certificate(identity.certificate);
  const issuer = new X509Certificate(authority.certificate);
  return (
    certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey) && !isExpiring(identity.certificate, now)
  );
}

function coversHosts(identity: Identity, hosts: readonly string[]): boolean {
  const certificate = new X509Certificate(identity.certificate);
  return hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined);
}
