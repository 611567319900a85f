export { type Config, defaultConfig, type StoreChoice } from "./server/config.ts";
export { type Server, startServer } from "./server/server.ts";
