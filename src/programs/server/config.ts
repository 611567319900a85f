import { completeOptions } from "../../base/options/configuration.ts";
import type { ConfigOf } from "../../base/options/option.ts";
import { serverOptions } from "./options.ts";

/** The configuration of a server. */
export type Config = ConfigOf<typeof serverOptions>;

/** The defaults of all options: those of `binnacle serve`, except that the server listens on a free port and writes no files. */
export const defaultConfig: Config = completeOptions(serverOptions, {});
