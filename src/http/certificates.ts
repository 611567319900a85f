import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { firstAddress } from "../lib/ip-address.ts";
import { writeWhole } from "./private-file.ts";
import { type Identity, makeAuthority, makeIdentity, type Subject } from "./x509.ts";

/** Whom the certificates are made for. */
export interface CertificateOptions {
  readonly bindAddress: string;
  /** Range of service addresses; the first of them leads to this server. */
  readonly serviceRange?: string;
  /** Further names and addresses that clients use to reach this server. */
  readonly hosts?: readonly string[];
  readonly now?: number;
}

/** What an administrator needs to prove who he is. */
export interface AdminCertificates {
  readonly authority: Identity;
  /** A client certificate of the group system:masters, which may do everything. */
  readonly admin: Identity;
}

/** Everything a server and its administrator need for TLS. */
export interface Certificates extends AdminCertificates {
  readonly serving: Identity;
  /** The serving pair was there already and is none of ours: nobody but its owner renews it. */
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
 * The certificates in `directory`, made where they are missing. The authority is kept for ever; what it signed is made
 * anew when it does not fit: wrong authority, wrong key, names missing, about to expire. Compat:
 * `MaybeDefaultWithSelfSignedCerts` serves with the pair apiserver.crt and apiserver.key that it finds in `--cert-dir`.
 */
export async function ensureCertificates(directory: string, options: CertificateOptions): Promise<Certificates> {
  const now = options.now ?? Date.now();
  const { authority, admin } = await ensureAdmin(directory, now);
  const apiserver = await readIdentity(directory, "apiserver");
  if (apiserver && isForeign(apiserver)) return { authority, admin, serving: apiserver, isForeign: true };
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

/** All of them, made anew and kept nowhere. */
export function makeCertificates(options: CertificateOptions): Certificates {
  const now = options.now ?? Date.now();
  const authority = makeAuthority(AUTHORITY_NAME, now);
  const admin = makeAdmin(authority, now);
  return { authority, admin, serving: makeServing(authority, options, now), isForeign: false };
}

/** An administrator's certificate, signed by the authority. */
export function makeAdmin(authority: Identity, now: number): Identity {
  return makeIdentity(authority, ADMIN, "client", now);
}

/** A certificate to serve with, signed by the authority. */
export function makeServing(authority: Identity, options: CertificateOptions, now: number): Identity {
  return makeIdentity(authority, { commonName: "binnacle", hosts: hostsOf(options) }, "server", now);
}

/** The authority and the administrator's certificate in `directory`, made where they are missing or do not fit. */
export async function ensureAdmin(directory: string, now: number): Promise<AdminCertificates> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = ["ca", "admin"] as const;
  const [ca, client] = await Promise.all(names.map((name) => readIdentity(directory, name)));
  const authority = await ensure(directory, "ca", ca, isWholeIdentity, () => makeAuthority(AUTHORITY_NAME, now));
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

/** Whether a pair can be served with, and was signed by others. */
function isForeign(identity: Identity): boolean {
  return isWholeIdentity(identity) && new X509Certificate(identity.certificate).issuer !== `CN=${AUTHORITY_NAME}`;
}

/** Whether a certificate is to be made anew at this time. */
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
  // The key first: who finds a certificate finds its key, too.
  await writeWhole(join(directory, `${name}.key`), made.key);
  await writeWhole(join(directory, `${name}.crt`), made.certificate);
  return made;
}

async function readIdentity(directory: string, name: string): Promise<Identity | undefined> {
  try {
    const [certificate, key] = await Promise.all([
      readFile(join(directory, `${name}.crt`), "utf8"),
      readFile(join(directory, `${name}.key`), "utf8"),
    ]);
    return { certificate, key };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a key belongs to its certificate. False as well for what is neither, such as the empty file that a full disk left. */
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
