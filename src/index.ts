/** What `import 'posthorn'` gives: help for receivers of webhooks. Nothing of the appliance loads. */
export type { VerifyOptions } from './webhooks/signature.js'
export { verifyWebhook } from './webhooks/verify.js'
