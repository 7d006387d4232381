import { closed, count, orNull, type Schema, text } from '../fields/index.js'

/**
 * Why so strict: the name is shown by every recipient's mail program and becomes the name of a file
 * on their disk. Malware hides its extension with a path or a character that reverses the direction
 * of the text.
 */
const filename = text(
  'Only the name, without a path: at most 255 bytes, no control characters, none that turn the direction of the text around',
  { minLength: 1, examples: ['invoice.pdf'] },
)

/**
 * Attachments as they are given and as they are shown. `attachment-fields.ts` judges them; these shapes only describe.
 */
export const attachmentShapes = (): Record<string, Schema> => ({
  Attachment: {
    type: 'object',
    description: 'Exactly one of `content` and `url`.',
    properties: {
      filename,
      content: text('The file in base64 (RFC 4648 §4); line ends in it count for nothing', {
        minLength: 1,
        examples: ['SGVsbG8='],
      }),
      url: text(
        'Where Posthorn fetches it when the mail is accepted: https, at a public address, within 20 seconds for all of a request, at most 3 redirects',
        { examples: ['https://files.example.com/invoice.pdf'] },
      ),
      contentType: text(
        'The media type of the file; absent: as its name suggests. `text/calendar; method=REQUEST` is an invitation: clients show it with its buttons, and as a file. At most one in a mail',
        { examples: ['application/pdf'] },
      ),
      contentId: text('Names a picture for the HTML: `logo` for `<img src="cid:logo">`', {
        minLength: 1,
        maxLength: 128,
        examples: ['logo'],
      }),
      disposition: {
        type: 'string',
        enum: ['attachment', 'inline'],
        description: 'Default: `inline` if it has a `contentId`, else `attachment`',
      },
    },
    required: ['filename'],
  },
  EmailAttachment: closed({
    filename: text('The name of the file, as given'),
    contentType: text('The media type, as given, or as the name of the file suggests'),
    size: count('The size of the file in bytes, not in base64'),
    contentId: orNull(text('The name by which the HTML shows it; null when none was given')),
    disposition: { type: 'string', enum: ['attachment', 'inline'] },
  }),
})
