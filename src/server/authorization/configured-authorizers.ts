import { statSync } from "node:fs";
import {
  type AuthorizerConfiguration,
  authorizersOfFlags,
  readAuthorizationConfiguration,
} from "../../auth/authorization/configuration.ts";
import { validateAuthorizers } from "../../auth/authorization/validate-configuration.ts";
import type { Environment } from "../../lib/environment.ts";
import { readLimited, WatchedFile } from "../watched-file.ts";
import type { AuthorizationConfig } from "./config.ts";

/** Which authorizers there are, as flags or a file say. */
export interface ConfiguredAuthorizers {
  readonly initial: readonly AuthorizerConfiguration[];
  /** Calls back with what a changed file says, until it is closed. What `replace` throws is logged, and nothing changes. */
  follow(replace: (authorizers: readonly AuthorizerConfiguration[]) => Promise<void>): { close(): void };
}

const files = {
  problemOf(file: string): string | undefined {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return `error loading file: stat ${file}: no such file or directory`;
    return stats.isFile() ? undefined : "must be a regular file";
  },
};

/** Reads which authorizers there shall be. Rejects, in kube-apiserver's words, when the file is wrong. */
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
        log.info("reloaded authz config", { file });
      };
      const failed = (error: unknown) => log.error("reloading authorization config", { err: error, file });
      return new WatchedFile({ file, clock, changed, failed }, text);
    },
  };
}
