/** Said of `userId` in every tool that has it. */
export const USER_ID = "The person: channel:externalId such as telegram:12345, or an internal id";
