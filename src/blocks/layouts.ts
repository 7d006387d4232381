import type { Block, BlockDocument } from './document.js'

/*
 * What a mail can begin with. The words of a layout say what to write in their place. No layout has colours of its own:
 * each uses the account's brand.
 */

/** A mail to begin with. */
export interface MailLayout {
  /** The name in the page's address. */
  name: string
  title: string
  /** What it is good for, in a line. */
  about: string
  document: BlockDocument
}

const hello = 'Hello {{ firstName | default: "there" }}'
const link = 'https://example.com/'

const newsletter: readonly Block[] = [
  { type: 'heading', level: 1, text: 'The name of your newsletter' },
  {
    type: 'text',
    text: `${hello},\n\nsay in two sentences what is in this issue, and for whom it is worth reading.`,
  },
  { type: 'divider' },
  { type: 'heading', text: 'Your main story' },
  {
    type: 'text',
    text: 'Begin with what is new. Three or four sentences are enough: who wants more follows the button.',
  },
  { type: 'button', text: 'Read the story', url: link },
  {
    type: 'columns',
    columns: [
      [
        { type: 'heading', level: 3, text: 'A second story' },
        { type: 'text', text: `Two sentences about it. [Read on](${link})` },
      ],
      [
        { type: 'heading', level: 3, text: 'A third story' },
        { type: 'text', text: `Two sentences about it. [Read on](${link})` },
      ],
    ],
  },
  { type: 'social', align: 'center', links: [{ name: 'Our site', url: link }] },
  { type: 'footer', text: 'You get this because you have signed up for our newsletter.' },
]

const announcement: readonly Block[] = [
  { type: 'space', height: 16 },
  { type: 'heading', level: 1, align: 'center', text: 'What is new, in six words' },
  {
    type: 'text',
    align: 'center',
    size: 18,
    text: 'One sentence on what your readers can do now that they could not do before.',
  },
  { type: 'button', align: 'center', text: 'See what is new', url: link, above: 20, below: 20 },
  { type: 'divider' },
  { type: 'heading', text: 'What it does for you' },
  {
    type: 'list',
    items: [
      '**The first gain:** what becomes easier.',
      '**The second gain:** what takes less time.',
      '**The third gain:** what costs less.',
    ],
  },
  { type: 'text', text: 'Say from when on it can be had, for whom, and what it costs.' },
  { type: 'footer', text: 'You get this because you have asked us for news.' },
]

const welcome: readonly Block[] = [
  { type: 'heading', level: 1, text: 'Welcome, {{ firstName | default: "good to have you" }}!' },
  {
    type: 'text',
    text: 'Thank your reader for coming, and say what your mails are about and how often they come.',
  },
  { type: 'heading', text: 'Three things to begin with' },
  {
    type: 'list',
    numbered: true,
    items: [
      'The first step, which takes a minute.',
      'The second step, which shows what you are good for.',
      `Where there is help: [our answers](${link}).`,
    ],
  },
  { type: 'button', text: 'Take the first step', url: link },
  { type: 'text', text: 'Questions? Just answer this mail.\n\nYour name\n*What you do here*' },
  { type: 'footer', text: 'You get this because you have signed up with us.' },
]

const event: readonly Block[] = [
  { type: 'text', align: 'center', text: '**You are invited**', below: 0 },
  { type: 'heading', level: 1, align: 'center', text: 'The name of your event' },
  {
    type: 'columns',
    columns: [
      [
        { type: 'heading', level: 3, align: 'center', text: 'When' },
        { type: 'text', align: 'center', text: 'Day and month\nFrom when to when, in which zone' },
      ],
      [
        { type: 'heading', level: 3, align: 'center', text: 'Where' },
        { type: 'text', align: 'center', text: 'Name of the place\nStreet and town, or “online”' },
      ],
    ],
  },
  { type: 'button', align: 'center', text: 'Save my place', url: link, above: 20, below: 20 },
  { type: 'text', text: `${hello},\n\nsay who should come, and what they take home.` },
  { type: 'heading', text: 'Programme' },
  {
    type: 'list',
    items: [
      '**18:00** Doors open',
      '**18:30** The first talk, and who gives it',
      '**20:00** Drinks and questions',
    ],
  },
  { type: 'text', text: 'Until when one can register, what it costs, and whom to ask.' },
  { type: 'footer', text: 'You get this because you have asked us for invitations.' },
]

/** An entry of the digest. */
const entry = (title: string, says: string): readonly Block[] => [
  { type: 'heading', level: 3, text: title, below: 0 },
  { type: 'text', text: `${says} [Read it](${link})`, above: 4 },
]

const digest: readonly Block[] = [
  { type: 'heading', level: 1, text: 'This week, in five minutes' },
  { type: 'text', text: `${hello}, one sentence on what the week was about.` },
  { type: 'divider' },
  ...entry('The most important entry', 'What happened, and why your readers should care.'),
  ...entry('The second entry', 'What happened, in one or two sentences.'),
  ...entry('The third entry', 'What happened, in one or two sentences.'),
  { type: 'divider' },
  { type: 'heading', text: 'In short' },
  {
    type: 'list',
    items: [
      `A line with a link: [what it leads to](${link})`,
      'A number of the week, and what it says',
      'A date to keep free',
    ],
  },
  { type: 'footer', text: 'You get this because you have subscribed to our digest.' },
]

const letter: readonly Block[] = [
  { type: 'text', text: `${hello},` },
  {
    type: 'text',
    text: 'write as you would to one person. The first sentence says why you write today.\n\nA paragraph for each thought, and one link at most where you want your reader to go: [like this](https://example.com/).\n\nEnd with what you would like to happen next. An answer to this mail reaches you.',
  },
  { type: 'text', text: 'Kind regards\n\nYour name' },
  { type: 'footer', text: 'You get this because you have asked to hear from us.' },
]

const layoutOf = (
  { name, title, about }: Omit<MailLayout, 'document'>,
  blocks: readonly Block[],
): MailLayout => ({
  name,
  title,
  about,
  document: { version: 1, blocks: [...blocks] },
})

/** The built-in layouts, in the order in which they are offered. */
export const layouts: readonly MailLayout[] = [
  layoutOf(
    {
      name: 'newsletter',
      title: 'Newsletter',
      about: 'A main story, and two short ones side by side',
    },
    newsletter,
  ),
  layoutOf(
    {
      name: 'announcement',
      title: 'Announcement',
      about: 'One thing that is new, and what it does for your readers',
    },
    announcement,
  ),
  layoutOf(
    { name: 'welcome', title: 'Welcome', about: 'The first steps of somebody who has just come' },
    welcome,
  ),
  layoutOf(
    { name: 'event', title: 'Event', about: 'When and where, the programme, a button to come' },
    event,
  ),
  layoutOf(
    { name: 'digest', title: 'Digest', about: 'Several entries, each with its link' },
    digest,
  ),
  layoutOf(
    {
      name: 'letter',
      title: 'Plain letter',
      about: 'Words alone, as you would write to one person',
    },
    letter,
  ),
]

export const layoutNamed = (name: string | null): MailLayout | undefined =>
  layouts.find((one) => one.name === name)
