export type { AdmissionCall, AdmissionModule } from "./admission/functions/module.ts";
export type { FeatureGateValues } from "./api/feature-gates.ts";
export type {
  CommandRequest,
  Handlers,
  LocalService,
  LogRequest,
  PodHandlers,
} from "./connect/handlers/handlers.ts";
export type { TerminalSize } from "./connect/remote-command/session.ts";
export type { Clock, Timer } from "./lib/clock.ts";
export type { Environment, Log, LogFields } from "./lib/environment.ts";
export type { Random } from "./lib/random.ts";
export { type AccountTokenConfig, type Config, defaultConfig, type StoreChoice } from "./server/config.ts";
export { OptionsError } from "./server/library/check-options.ts";
export {
  type DefinedKind,
  defineKind,
  type KindObject,
  type KindOptions,
  type KindVersion,
  type Problem,
} from "./server/library/define-kind.ts";
export type { ServerOptions } from "./server/library/options.ts";
export type { KindSchema, TypeOf } from "./server/library/schema-types.ts";
export { startServer } from "./server/library/start-server.ts";
export type { Server } from "./server/server.ts";
export { systemEnvironment } from "./server/system-environment.ts";
