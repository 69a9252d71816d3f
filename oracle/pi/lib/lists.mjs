// Lists of messages as single items, of whatever they were read: { role, text }, { call, name, args }, { result, text, images, failed } or { image }. A call is known by its
// place among all, since lists may give it another id. White space does not count, nor what stands in the place of what no record says.
/** What the client puts in the place of a result that is not there, and what sessfix does. */
const UNANSWERED = ['No result provided', 'No result of this call is recorded. It may or may not have run: check before you repeat it.']
/** What stands for an image that the model does not take, and for nothing. */
const INSTEAD = /\(image omitted: model does not support images\)|\(tool image omitted: model does not support images\)|\(see attached image\)|\(no tool output\)|\[no text\]|\[Nothing of this message can be sent\.\]|\[The beginning of this conversation is not in the log\.\]/g
const IMAGES = /\[image, [^\]]*\]/g
const IMAGE = /^\[image, (\S+|of unknown type), (?:(\d+) bytes of base64|is not in the log)\]$/

/** Without the words that the user says at the end. */
export function without(prompt, items) {
  const last = items.at(-1)
  const words = plain(prompt)
  if (last?.role !== 'user' || !last.text.endsWith(words)) return [...items, { role: 'fault', text: `the prompt is not at the end: ${prompt}` }]
  const text = last.text.slice(0, -words.length)
  return [...items.slice(0, -1), ...text === '' ? [] : [{ ...last, text }]]
}

/** Of a list of chat completions. Images are left out: what of them is sent is up to the model. */
export function itemsOfChat(messages) {
  const list = gather()
  for (const { role, content, tool_calls: calls = [], tool_call_id: id } of messages) {
    const texts = textsOf(content).map(text => text.replace(IMAGES, ''))
    if (role === 'tool') list.result(id, texts, [], undefined)
    if (role !== 'user' && role !== 'assistant') continue
    for (const text of texts) list.text(role, text)
    for (const call of calls) list.call(call.id, call.function.name, valueOf(call.function.arguments))
  }
  return list.items()
}

/** Of a list of the Messages API. Calls that nothing is known of are left open, as the log has them. */
export function itemsOfBlocks(messages) {
  const list = gather({ open: true })
  for (const { role, content } of messages) {
    for (const block of blocksOf(content)) {
      if (block.type === 'text' && IMAGE.test(block.text)) list.image(imageOf(block))
      else if (block.type === 'text') list.text(role, block.text)
      else if (block.type === 'image') list.image(imageOf(block))
      else if (block.type === 'tool_use') list.call(block.id, block.name, block.input)
      else if (block.type === 'tool_result') {
        const pieces = blocksOf(block.content ?? [])
        list.result(block.tool_use_id, textsOf(pieces).filter(text => !IMAGE.test(text)), pieces.filter(isImage).map(imageOf), block.is_error === true)
      } else list.text('fault', `a block of type ${block.type}`)
    }
  }
  return list.items()
}

/** Of what the client's own converter gives. Answers that failed or were given up it takes out later. */
export function itemsOfClient(messages) {
  const list = gather({ open: true })
  for (const { role, content, stopReason, toolCallId, isError } of messages) {
    if (stopReason === 'error' || stopReason === 'aborted' || !['user', 'assistant', 'toolResult'].includes(role)) continue
    const blocks = blocksOf(content ?? [])
    if (role === 'toolResult') {
      list.result(toolCallId, textsOf(blocks), blocks.filter(isImage).map(imageOf), isError === true)
      continue
    }
    for (const block of blocks) {
      if (block.type === 'text') list.text(role, block.text)
      else if (block.type === 'image') list.image(imageOf(block))
      else if (block.type === 'toolCall') list.call(block.id, block.name, block.arguments)
    }
  }
  return list.items()
}

/** Where two lists part, or nothing. */
export function listFaults(wanted, got) {
  for (let n = 0; n < Math.max(wanted.length, got.length); n += 1) {
    if (!isSame(wanted[n], got[n])) return [`item ${n} of ${wanted.length} is ${short(got[n])}, and the client has ${short(wanted[n])}`]
  }
  return []
}

function gather({ open = false } = {}) {
  const items = []
  const places = new Map()
  let calls = 0
  return {
    text(role, words) {
      const text = plain(words)
      if (text === '') return
      if (items.at(-1)?.role === role) items.at(-1).text += text
      else items.push({ role, text })
    },
    call(id, name, args) {
      places.set(id, calls)
      items.push({ call: calls++, name, args })
    },
    image: image => items.push({ image }),
    result(id, texts, images, failed) {
      const unanswered = texts.length === 1 && UNANSWERED.includes(texts[0])
      if (unanswered && open) return
      items.push({ result: places.get(id) ?? `of no call: ${id}`, text: unanswered ? 'none' : plain(texts.join('')), images, failed })
    },
    /** Results of one answer in the order of its calls. */
    items() {
      for (let n = 0; n < items.length; n += 1) {
        let end = n
        while (items[end]?.result !== undefined) end += 1
        items.splice(n, end - n, ...items.slice(n, end).sort((a, b) => a.result - b.result))
        n = Math.max(n, end - 1)
      }
      return items
    },
  }
}

function isSame(a, b) {
  if (a?.image !== undefined) return isSameImage(a.image, b?.image)
  if (a?.result !== undefined && b?.result !== undefined) {
    return a.result === b.result && a.text === b.text && a.failed === b.failed && a.images.length === b.images.length && a.images.every((image, n) => isSameImage(image, b.images[n]))
  }
  return JSON.stringify(a) === JSON.stringify(b)
}

/** One that the provider takes comes whole; of others a word comes that tells their size. */
const isSameImage = (a, b) => b !== undefined && a.media === b.media && a.size === b.size && (b.data === undefined || a.data === b.data)

const isImage = block => block?.type === 'image' || IMAGE.test(block?.text)

function imageOf({ data, mimeType, source, text }) {
  if (text !== undefined) return { media: IMAGE.exec(text)[1], size: Number(IMAGE.exec(text)[2] ?? 0) }
  const image = source === undefined ? { media: mimeType, data } : { media: source.media_type, data: source.data }
  return { ...image, size: image.data.length }
}

const blocksOf = content => Array.isArray(content) ? content : [{ type: 'text', text: content }]

const textsOf = content => (Array.isArray(content) ? content : [{ text: content }]).map(block => block?.text).filter(text => typeof text === 'string')

const plain = text => text.replace(INSTEAD, '').replace(/[\ud800-\udfff\ufffd]/g, '').replace(/\s+/g, '')

function valueOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return `no JSON: ${text}`
  }
}

function short(item) {
  const text = JSON.stringify(item) ?? 'nothing'
  return text.length > 160 ? `${text.slice(0, 157)}...` : text
}
