import { readLimited, WatchedFile } from "../../../base/files/watched-file.ts";
import type { Environment } from "../../../base/util/environment.ts";
import type { KubeletOptions } from "../nodes.ts";
import { openClientCertificate } from "./client-certificate.ts";
import type { ConnectConfig } from "./options.ts";

/** Kubelet connection options whose files are reloaded when they change. */
export interface KubeletFiles {
  readonly options: KubeletOptions;
  close(): void;
}

/** Reads the files of the `--kubelet-*` flags and watches them for changes. Rejects if a file cannot be read. */
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
  let ca = file === undefined ? undefined : await readLimited(file);
  const changed = (text: string): void => {
    ca = text;
    log.info("CA for kubelets reloaded", { file });
  };
  const failed = (error: unknown) =>
    log.error("reloading the CA for kubelets failed, keeping the current one", { err: error, file });
  const watched = file === undefined ? undefined : new WatchedFile({ file, clock, changed, failed }, ca ?? "");
  return {
    options: {
      preferredAddressTypes: config.kubeletPreferredAddressTypes,
      timeoutMs: config.kubeletTimeoutMs,
      certificate: () => certificate.current(),
      ca: () => ca,
    },
    close() {
      certificate.close();
      watched?.close();
    },
  };
}
