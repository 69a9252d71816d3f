// Logs as upgrades.txt describes them. The Go tests read the same file, in format/dsh/prepare_test.go.
import { readFile } from 'node:fs/promises'

/** { name, word, header, text, from: [versions], to: [versions] } of each recipe. */
export async function readRecipes(file) {
  const pieces = {}
  const out = []
  let piece
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    if (line === '' || line.startsWith('# ')) continue
    if (line.startsWith('== ')) piece = line.slice(3)
    else if (line.startsWith('-- ')) {
      const [name, from, to, word] = line.slice(3).split(' | ')
      const versions = list => list.split(' ').map(Number)
      out.push({ name, word, header: undefined, text: '', from: versions(from), to: versions(to) })
      piece = undefined
    } else {
      const lines = line.startsWith('@') ? pieces[line.slice(1)] : line + '\n'
      if (piece !== undefined) pieces[piece] = (pieces[piece] ?? '') + lines
      else if (line.startsWith('"')) out.at(-1).header = line
      else out.at(-1).text += lines
    }
  }
  return out
}

/** The text of a recipe's log in one version. */
export function logOf({ header, text }, version) {
  if (version >= 2) text = text.replaceAll('assistant/message {', 'assistant/message {"stream":[],')
  if (version >= 3) {
    text = text.replaceAll('"op":"replace","start":', '"op":"replace","startSeq":').replaceAll(',"end":', ',"endSeq":')
      .replace('step/start {"turn":1,"step":1}', found => `${found}\nsystem/message {"turn":1,"step":1,"message":{"id":"m-sys","role":"system","source":{"kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt"},"content":[]}} S`)
  }
  const numbers = {}
  let seq = 0
  const rows = text.split('\n').filter(line => line !== '').map((line) => {
    const label = /^([\w-]+): /.exec(line)
    if (label) {
      for (let more = 0; more < 3; more += 1) numbers[label[1] + (more > 0 ? `+${more}` : '')] = seq + more
      line = line.slice(label[0].length)
    }
    line = line.replace(/<([a-z][a-z0-9-]*(?:\+\d)?)>/g, (all, name) => numbers[name] ?? 0)
    const [, type, rest] = /^(\S+) (.*)$/.exec(line)
    const end = jsonEnd(rest)
    const data = rest.slice(0, end)
    let more = rest.slice(end).trim()
    if (more.startsWith('S')) more = '"surfaceOp":"append"' + (more.length > 1 ? `,"sourceEventSeqs":${more.slice(1)}` : '')
    const packed = type.endsWith('-chunks')
    const row = packed ? `{"type":"${type}","seq0":${seq},"time0":9,"data":${data}}` : `{"type":"${type}","seq":${seq},"time":9,"data":${data}${more === '' ? '' : `,${more}`}}`
    const { texts, args } = packed ? JSON.parse(data) : {}
    seq += packed ? (texts ?? args).length : 1
    return row
  })
  header ??= `"id":"tide","createdAt":7,"delegationDepth":0${version >= 2 ? ',"isSeeded":false' : ''}`
  if (version >= 2 && !header.includes('"isSeeded"')) header += ',"isSeeded":false'
  return [`{"type":"session","version":${version},${header}}`, ...rows].map(line => line + '\n').join('')
}

/** A log that nobody would write: lines of one recipe gone, twice, elsewhere, or those of another. The same for the same seed. */
export function shuffled(recipes, seed) {
  const random = numbersFrom(seed)
  const pick = list => list[Math.floor(random() * list.length)]
  const recipe = pick(recipes)
  const lines = recipe.text.split('\n').filter(line => line !== '')
  for (let n = 1 + Math.floor(random() * 3); n > 0; n -= 1) {
    const at = Math.floor(random() * lines.length)
    const to = Math.floor(random() * lines.length)
    const how = random()
    if (how < 0.25) lines.splice(at, 1)
    else if (how < 0.4) lines.splice(to, 0, lines[at])
    else if (how < 0.6) lines.splice(to, 0, ...lines.splice(at, 1))
    else if (how < 0.75) lines.splice(at, 0, pick(pick(recipes).text.split('\n').filter(line => line !== '')))
    else if (how < 0.85) lines[at] = lines[at]?.replace(/"(turn|step)":(\d)/, (all, name, n) => `"${name}":${Number(n) + 1}`)
    else if (how < 0.95) lines[at] = lines[at]?.replace(/S\[.*\]$/, 'S')
    else lines.splice(at, lines.length)
    if (lines.length === 0) lines.push(recipe.text.split('\n')[0])
  }
  return { ...recipe, text: lines.filter(line => line !== undefined).map(line => line + '\n').join('') }
}

/** Numbers from 0 up to 1, always the same for one seed. */
function numbersFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = state + 0x6D2B79F5 >>> 0
    let t = Math.imul(state ^ state >>> 15, 1 | state)
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t
    return ((t ^ t >>> 14) >>> 0) / 4294967296
  }
}

function jsonEnd(text) {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i]
    if (inString) {
      if (c === '\\') i += 1
      else if (c === '"') inString = false
    } else if (c === '"') inString = true
    else if (c === '{' || c === '[') depth += 1
    else if ((c === '}' || c === ']') && --depth === 0) return i + 1
  }
  throw new Error(`no JSON: ${text}`)
}
