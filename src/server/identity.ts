import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseTokenFile, type StaticToken } from "../auth/token-file.ts";
import { ensureCertificates } from "../http/certificates.ts";
import { printKubeconfig } from "../http/kubeconfig.ts";
import type { ListenerOptions } from "../http/listener.ts";
import type { Config } from "./config.ts";

/** By what the server is known to its clients, and they to it. */
export interface Identity {
  readonly tls: NonNullable<ListenerOptions["tls"]>;
  /** The authority that clients are to trust, as PEM. */
  readonly authority: string;
  readonly tokens: readonly StaticToken[];
  readonly kubeconfigFile: string;
  readonly adminToken: string;
  /** Writes the administrator's kubeconfig once the address is known. */
  saveKubeconfig(url: string): Promise<void>;
}

/** Reads what is configured and makes the rest, once: a serving certificate, an administrator's token. */
export async function prepareIdentity(config: Config): Promise<Identity> {
  await mkdir(config.certDir, { recursive: true, mode: 0o700 });
  const { certificate, key, authority } = await servingCertificate(config);
  const clientAuthority = config.clientCaFile === undefined ? undefined : await readFile(config.clientCaFile, "utf8");
  const adminToken = await ensureAdminToken(path.join(config.certDir, "admin-token"));
  const listed = config.tokenAuthFile === undefined ? [] : parseTokenFile(await readFile(config.tokenAuthFile, "utf8"));
  const admin: StaticToken = {
    token: adminToken,
    user: { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] },
  };
  const kubeconfigFile = path.resolve(config.certDir, "kubeconfig");
  return {
    tls: { certificate, key, clientAuthority },
    authority,
    tokens: [...listed, admin],
    kubeconfigFile,
    adminToken,
    async saveKubeconfig(url) {
      const text = printKubeconfig({ server: url, authority, user: { token: adminToken } });
      await writeFile(kubeconfigFile, text, { mode: 0o600 });
      await chmod(kubeconfigFile, 0o600);
    },
  };
}

/** The certificate to serve with, and the authority that clients are to trust for it. */
async function servingCertificate(config: Config): Promise<{ certificate: string; key: string; authority: string }> {
  const { tlsCertFile, tlsPrivateKeyFile } = config;
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    const [certificate, key] = await Promise.all([readFile(tlsCertFile, "utf8"), readFile(tlsPrivateKeyFile, "utf8")]);
    return { certificate, key, authority: certificate };
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new Error("--tls-cert-file and --tls-private-key-file are needed together");
  }
  const { authority, serving } = await ensureCertificates(config.certDir, {
    bindAddress: config.bindAddress,
    serviceRange: config.serviceClusterIpRange,
  });
  return { certificate: serving.certificate, key: serving.key, authority: authority.certificate };
}

async function ensureAdminToken(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const token = randomBytes(24).toString("base64url");
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  return token;
}
