export { type Config, defaultConfig, type StoreChoice } from "./config.ts";
export { type Server, startServer } from "./server.ts";
