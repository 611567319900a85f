export type { Clock, Timer } from "./lib/clock.ts";
export type { Environment, Log, LogFields } from "./lib/environment.ts";
export type { Random } from "./lib/random.ts";
export { type Config, defaultConfig, type StoreChoice } from "./server/config.ts";
export { type Server, startServer } from "./server/server.ts";
export { systemEnvironment } from "./server/system-environment.ts";
