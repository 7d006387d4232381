/** What `import 'posthorn'` gives: help for receivers of webhooks. Nothing of the appliance loads. */
export type { SignatureOptions } from './webhooks/signature.js'
export { verifyWebhook } from './webhooks/verify.js'
