// Matrices of 4 x 4, column by column, as WebGL and WebXR have them.

export function product(...matrices) {
  return matrices.reduce((a, b) => {
    const out = new Float32Array(16);
    for (let column = 0; column < 16; column += 4) {
      for (let row = 0; row < 4; row += 1) {
        out[column + row] = a[row] * b[column] + a[row + 4] * b[column + 1] + a[row + 8] * b[column + 2] + a[row + 12] * b[column + 3];
      }
    }
    return out;
  });
}

export function shifted(x, y, z) {
  return new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1]);
}

export function sized(x, y, z = 1) {
  return new Float32Array([x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1]);
}

// A turn to the left, about what points up.
export function turnedLeft(angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return new Float32Array([c, 0, -s, 0, 0, 1, 0, 0, s, 0, c, 0, 0, 0, 0, 1]);
}

// A turn back and up, about what points to the right.
export function tilted(angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return new Float32Array([1, 0, 0, 0, 0, c, s, 0, 0, -s, c, 0, 0, 0, 0, 1]);
}
