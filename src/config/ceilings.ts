import { integer } from './settings.js'

const most = 1_000_000

/** How many of each kind an account may have, so that what is listed or counted as a whole stays small. */
export const ceilings = {
  topics: integer(500, 1, most),
  lists: integer(5_000, 1, most),
  keys: integer(200, 1, most),
  templates: integer(2_000, 1, most),
  pictures: integer(1_000, 1, most),
  webhookEndpoints: integer(50, 1, most),
  automations: integer(500, 1, most),
  domains: integer(1_000, 1, most),
  receivingRules: integer(200, 1, 10_000),
  storedMib: integer(10_240, 1, 1_000_000_000),
}
