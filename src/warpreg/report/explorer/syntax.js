// Colours of the source: comments, texts, numbers, words of the language.

const CUDA_WORDS =
  "alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum|extern|false|float|for|" +
  "half|if|inline|int|long|namespace|operator|private|public|register|restrict|return|short|signed|sizeof|static|struct|" +
  "switch|template|true|typedef|typename|union|unsigned|using|void|volatile|while|__\\w+__|__restrict__|" +
  "u?int(?:8|16|32|64)_t|size_t|[a-z]+[1-4](?=\\s|\\()|threadIdx|blockIdx|blockDim|gridDim|warpSize";
const COMMENT = "//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)";
const STRING = '"(?:[^"\\\\\\n]|\\\\.)*"?|\'(?:[^\'\\\\\\n]|\\\\.)*\'?';
const NUMBER = "\\b(?:0[xXbBfFdD][\\da-fA-F.]+|\\d[\\d.]*(?:[eE][+-]?\\d+)?)[uUlLfF]*\\b";
const TOKENS = {
  cuda: new RegExp(`(?<comment>${COMMENT})|(?<string>${STRING})|(?<directive>^[ \\t]*#[^\\n]*)|(?<number>${NUMBER})|` +
    `\\b(?<word>${CUDA_WORDS})\\b`, "gm"),
  ptx: new RegExp(`(?<comment>${COMMENT})|(?<string>${STRING})|(?<directive>^[ \\t]*\\.\\w+)|(?<word>%\\w[\\w.]*)|` +
    `(?<number>${NUMBER})`, "gm"),
};

/** The lines of a text, each a list of pieces: the text, and the kind of token that it belongs to, if any. */
function painted(text) {
  const lines = [[]];
  const add = (piece, kind) => {
    piece.split("\n").forEach((part, place) => {
      if (place) lines.push([]);
      if (part) lines.at(-1).push([part, kind]);
    });
  };
  let end = 0;
  for (const found of text.matchAll(TOKENS[DATA.language])) {
    add(text.slice(end, found.index), "");
    add(found[0], Object.keys(found.groups).find((kind) => found.groups[kind] !== undefined));
    end = found.index + found[0].length;
  }
  add(text.slice(end), "");
  return lines;
}
