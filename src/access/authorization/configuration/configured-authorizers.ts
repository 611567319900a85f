import { statSync } from "node:fs";
import { readLimited, WatchedFile } from "../../../base/files/watched-file.ts";
import type { Environment } from "../../../base/util/environment.ts";
import { type AuthorizerConfiguration, authorizersOfFlags, readAuthorizationConfiguration } from "../configuration.ts";
import type { AuthorizationConfig } from "../options.ts";
import { validateAuthorizers } from "../validate-configuration.ts";

/** The authorizers of the flags or of the configuration file. */
export interface ConfiguredAuthorizers {
  readonly initial: readonly AuthorizerConfiguration[];
  /**
   * Calls `replace` when the file changes, until the result is closed. If `replace` rejects, the error is logged and
   * nothing changes.
   */
  follow(replace: (authorizers: readonly AuthorizerConfiguration[]) => Promise<void>): { close(): void };
}

const files = {
  problemOf(file: string): string | undefined {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return `error loading file: stat ${file}: no such file or directory`;
    return stats.isFile() ? undefined : "must be a regular file";
  },
};

/** Reads the configuration of authorizers. Rejects with kube-apiserver's message if the file is invalid. */
export async function configuredAuthorizers(
  { configFile: file, ...flags }: AuthorizationConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
): Promise<ConfiguredAuthorizers> {
  if (file === undefined) return { initial: authorizersOfFlags(flags), follow: () => ({ close() {} }) };
  const text = await readLimited(file);
  const read = (content: string, required: readonly string[]) => {
    const authorizers = readAuthorizationConfiguration(content);
    validateAuthorizers(authorizers, { files, required });
    return authorizers;
  };
  const initial = read(text, []);
  const required = initial.map(({ type }) => type).filter((type) => type !== "Webhook");
  return {
    initial,
    follow(replace) {
      const changed = async (content: string) => {
        await replace(read(content, required));
        log.info("reloaded authorization config", { file });
      };
      const failed = (error: unknown) =>
        log.error("reloading the authorization config failed, keeping the previous one", { err: error, file });
      return new WatchedFile({ file, clock, changed, failed }, text);
    },
  };
}
