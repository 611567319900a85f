import type { KubeletOptions } from "../../connect/nodes.ts";
import type { Environment } from "../../lib/environment.ts";
import { readLimited, WatchedFile } from "../watched-file.ts";
import { openClientCertificate } from "./client-certificate.ts";
import type { ConnectConfig } from "./config.ts";

/** How kubelets are reached, with what its files say now. */
export interface KubeletFiles {
  readonly options: KubeletOptions;
  close(): void;
}

/** Reads the files of the flags `--kubelet-*`, and follows them. Rejects when one cannot be read. */
export async function openKubeletFiles(
  config: ConnectConfig,
  environment: Pick<Environment, "clock" | "log">,
): Promise<KubeletFiles> {
  const { clock, log } = environment;
  const certificate = await openClientCertificate(
    {
      certFile: config.kubeletClientCertificate,
      keyFile: config.kubeletClientKey,
      flags: ["--kubelet-client-certificate", "--kubelet-client-key"],
      audience: "kubelets",
    },
    environment,
  );
  const { kubeletCertificateAuthority: file } = config;
  let authority = file === undefined ? undefined : await readLimited(file);
  const changed = (text: string): void => {
    authority = text;
    log.info("kubelets are verified by another authority", { file });
  };
  const failed = (error: unknown) => log.error("the authority of kubelets cannot be read", { err: error });
  const watched = file === undefined ? undefined : new WatchedFile({ file, clock, changed, failed }, authority ?? "");
  return {
    options: {
      preferredAddressTypes: config.kubeletPreferredAddressTypes,
      timeoutMs: config.kubeletTimeoutMs,
      certificate: () => certificate.current(),
      authority: () => authority,
    },
    close() {
      certificate.close();
      watched?.close();
    },
  };
}
