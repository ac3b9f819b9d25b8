/** What a person types in pi to reach us. */
export const COMMAND_NAME = "/loop";
