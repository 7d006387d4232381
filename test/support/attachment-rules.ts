import { loadConfig } from '../../src/config/index.js'
import type { AttachmentRules } from '../../src/emails/index.js'

const { maxBytes, maxCount } = loadConfig({ env: {} }).attachments

/** The usual rules, and no network to fetch from. */
export const attachmentRules: AttachmentRules = {
  maxBytes,
  maxCount,
  fetchFile: async () => ({ failed: 'there is no network here' }),
}
