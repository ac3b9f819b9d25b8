/** What a person types in pi to reach us. */
export const PI_COMMAND_NAME = "/loop";
