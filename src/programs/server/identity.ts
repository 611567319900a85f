import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseTokenFile, type StaticToken } from "../../access/authentication/token-file.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { whileLocked } from "../../base/files/folder-lock.ts";
import { readPrivate, writeWhole } from "../../base/files/private-file.ts";
import {
  type AdminCertificates,
  ensureAdmin,
  ensureCertificates,
  isExpiring,
  isWholeIdentity,
  makeAdmin,
  makeCertificates,
  makeServing,
} from "../../base/pki/certificates.ts";
import type { Identity as Pair } from "../../base/pki/make-certificate.ts";
import type { Log } from "../../base/util/environment.ts";
import { printKubeconfig } from "../../data/kubeconfig/kubeconfig.ts";
import { chooseKubeconfigFile } from "../../data/kubeconfig/kubeconfig-file.ts";
import type { RefreshServing, ServingPair } from "../../serving/http/certificate-renewal.ts";
import type { Config } from "./config.ts";

/** The certificates and tokens of a server. */
export interface Identity {
  readonly tls: ServingPair;
  /** Returns the current serving certificate: rereads configured files, and renews a generated one before it expires. */
  readonly refreshServing: RefreshServing;
  /** The CA bundle for clients, in PEM. */
  readonly authority: string;
  /** The CA of the administrator's certificate, in PEM. Undefined with `--client-ca-file`. */
  readonly ownAuthority: string | undefined;
  /** The CA that signs CertificateSigningRequests. Undefined: they are not signed. */
  readonly signingAuthority: Pair | undefined;
  /** The tokens of `--token-auth-file`. */
  readonly tokens: readonly StaticToken[];
  readonly admin: StaticToken;
  /** The administrator's kubeconfig for a server at this address. */
  kubeconfig(url: string): string;
  /** Writes the kubeconfig when the address is known. Resolves to its path, or to undefined without `certDir`. */
  saveKubeconfig(url: string): Promise<string | undefined>;
}

/** The user of the administrator's token. */
export const ADMINISTRATOR: UserInfo = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

/** Reads the configured certificates and tokens, and generates the others. */
export async function prepareIdentity(config: Config, log: Log): Promise<Identity> {
  const { certDir } = config;
  const tokens = await listedTokens(config.tokenAuthFile, log);
  const folder = certDir === undefined ? inMemory(config) : inFolder(config, certDir, log);
  const { serving, adminPair, token } = await folder.prepare();
  const { certificate, key } = serving;
  const authority = await publishedAuthority(config, serving);
  const signingAuthority = (await configuredAuthority(config)) ?? adminPair?.authority;
  let admin = adminPair;
  const kubeconfig = (url: string): string => {
    const user = admin ? { identity: admin.admin } : { token };
    return printKubeconfig({ server: url, authority, user });
  };
  let saved: { readonly file: string; readonly url: string } | undefined;
  return {
    tls: { certificate, key },
    async refreshServing(nowMs) {
      const next = await folder.refreshAdmin(admin, nowMs);
      const isNew = next?.admin.certificate !== admin?.admin.certificate;
      admin = next;
      if (isNew && saved) await writeWhole(saved.file, kubeconfig(saved.url));
      return folder.refreshServing(serving, nowMs);
    },
    authority,
    ownAuthority: admin?.authority.certificate,
    signingAuthority,
    tokens,
    admin: { token, user: ADMINISTRATOR },
    kubeconfig,
    async saveKubeconfig(url) {
      if (certDir === undefined) return undefined;
      saved = await whileLocked(certDir, async () => {
        const file = await chooseKubeconfigFile(certDir, url);
        await writeWhole(file, kubeconfig(url));
        return { file, url };
      });
      return saved.file;
    },
  };
}

/** The source of certificates and the administrator's token. */
interface Secrets {
  prepare(): Promise<{ serving: Serving; adminPair: AdminCertificates | undefined; token: string }>;
  /** Returns the current administrator's certificate. There is none with `--client-ca-file`, which may not contain our CA. */
  refreshAdmin(known: AdminCertificates | undefined, nowMs: number): Promise<AdminCertificates | undefined>;
  refreshServing(first: Serving, nowMs: number): Promise<ServingPair>;
}

/** The serving certificate, its key and the CA for clients, in PEM. */
interface Serving {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  /** Whether the server generated it, and so renews it. */
  readonly isOwn: boolean;
}

/** Stores generated files in a folder, and reuses them. */
function inFolder(config: Config, certDir: string, log: Log): Secrets {
  const hasAdmin = config.clientCaFile === undefined;
  let latest: Serving | undefined;
  const servingCertificate = async (now?: number): Promise<Serving> => {
    const configured = await configuredCertificate(config);
    if (configured) return configured;
    const { authority, serving, isForeign } = await ensureCertificates(certDir, { ...hostOptions(config), now });
    const trusted = isForeign ? serving : authority;
    return { ...serving, authority: trusted.certificate, isOwn: !isForeign };
  };
  return {
    prepare: () =>
      whileLocked(certDir, async () => ({
        serving: await servingCertificate(),
        adminPair: hasAdmin ? await ensureAdmin(certDir, Date.now()) : undefined,
        token: await ensureAdminToken(path.join(certDir, "admin-token"), log),
      })),
    async refreshAdmin(known, nowMs) {
      if (known === undefined || !isExpiring(known.admin.certificate, nowMs)) return known;
      return whileLocked(certDir, () => ensureAdmin(certDir, nowMs));
    },
    // Configured files may change at any time. Generated ones change only before they expire.
    async refreshServing(first, nowMs) {
      latest ??= first;
      if (latest.isOwn && !isExpiring(latest.certificate, nowMs)) return latest;
      const next = first.isOwn
        ? await whileLocked(certDir, () => servingCertificate(nowMs))
        : await servingCertificate(nowMs);
      // Clients trust the CA of their kubeconfig. A new CA, for example after the files were lost, requires a restart.
      if (first.isOwn && next.authority !== first.authority)
        throw new Error(`the CA in ${certDir} has changed; restart the server`);
      latest = next;
      return next;
    },
  };
}

/** Keeps generated certificates and tokens in memory. */
function inMemory(config: Config): Secrets {
  let made: { authority: Pair; serving: Pair } | undefined;
  return {
    async prepare() {
      const configured = await configuredCertificate(config);
      const { authority, admin, serving } = makeCertificates(hostOptions(config));
      made = { authority, serving };
      return {
        serving: configured ?? { ...serving, authority: authority.certificate, isOwn: true },
        adminPair: config.clientCaFile === undefined ? { authority, admin } : undefined,
        token: newToken(),
      };
    },
    async refreshAdmin(known, nowMs) {
      if (known === undefined || !isExpiring(known.admin.certificate, nowMs)) return known;
      return { authority: known.authority, admin: makeAdmin(known.authority, nowMs) };
    },
    async refreshServing(first, nowMs) {
      if (!first.isOwn || made === undefined) return (await configuredCertificate(config)) ?? first;
      if (isExpiring(made.serving.certificate, nowMs)) {
        made = { ...made, serving: makeServing(made.authority, hostOptions(config), nowMs) };
      }
      return made.serving;
    },
  };
}

const hostOptions = ({ bindAddress, serviceClusterIpRange }: Config) => ({
  bindAddress,
  serviceRange: serviceClusterIpRange,
});

async function configuredCertificate({ tlsCertFile, tlsPrivateKeyFile }: Config): Promise<Serving | undefined> {
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    const [certificate, key] = await Promise.all([readFile(tlsCertFile, "utf8"), readFile(tlsPrivateKeyFile, "utf8")]);
    return { certificate, key, authority: certificate, isOwn: false };
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new Error("--tls-cert-file and --tls-private-key-file require each other");
  }
  return undefined;
}

/** Compat: the CA of `--cluster-signing-cert-file` of kube-controller-manager. */
async function configuredAuthority(config: Config): Promise<Pair | undefined> {
  const { clusterSigningCertFile: certFile, clusterSigningKeyFile: keyFile } = config;
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new Error("--cluster-signing-cert-file and --cluster-signing-key-file require each other");
  }
  const [certificate, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
  if (!isWholeIdentity({ certificate, key })) throw new Error(`${keyFile} is not the private key of ${certFile}`);
  return { certificate, key };
}

/**
 * The CA bundle that is published for clients. Compat: `--root-ca-file` of kube-controller-manager. Replicas have different
 * certificates, so without it each would publish another one.
 */
async function publishedAuthority({ rootCaFile }: Config, { authority, isOwn }: Serving): Promise<string> {
  if (rootCaFile === undefined) return authority;
  if (isOwn) throw new Error("--root-ca-file requires --tls-cert-file: it is the CA of that certificate");
  return readFile(rootCaFile, "utf8");
}

async function listedTokens(file: string | undefined, log: Log): Promise<StaticToken[]> {
  if (file === undefined) return [];
  return parseTokenFile(await readFile(file, "utf8"), file, (text) => log.warn(text));
}

const newToken = (): string => randomBytes(24).toString("base64url");

/** Reads the token of a file. If the file is missing or empty (for example after a full disk), writes a new token. */
async function ensureAdminToken(file: string, log: Log): Promise<string> {
  const known = (await readPrivate(file))?.trim();
  if (known) {
    // Other characters are not allowed in a bearer token.
    if (!/^[!-~]+$/.test(known)) throw new Error(`${file}: expected one token of printable ASCII characters`);
    return known;
  }
  if (known === "") log.warn("administrator token file was empty, wrote a new token", { file });
  const token = newToken();
  await writeWhole(file, `${token}\n`);
  return token;
}
