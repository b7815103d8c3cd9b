// Draws into a headset with WebGL2: rectangles that carry a texture, and boxes of one colour.

const VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec2 spot;
layout(location = 2) in float light;
uniform mat4 toClip;
out vec2 at;
out float shade;
void main() {
  at = spot;
  shade = light;
  gl_Position = toClip * vec4(place, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec2 at;
in float shade;
uniform sampler2D picture;
uniform vec4 tint;
out vec4 colour;
void main() {
  colour = texture(picture, at) * tint * vec4(vec3(shade), 1.0);
}`;

// A square of one metre that faces the viewer, upper edge of the texture on top.
const SQUARE = [[-0.5, 0.5, 0, 0], [-0.5, -0.5, 0, 1], [0.5, 0.5, 1, 0], [0.5, -0.5, 1, 1]].flatMap(([x, y, u, v]) => [x, y, 0, u, v, 1]);

// The six sides of a cube of one metre: what faces up is the lightest.
function cube() {
  const sides = [[0, 0.75], [1, 1], [2, 0.85]];
  return sides.flatMap(([axis, light]) => [-0.5, 0.5].flatMap((end) => {
    const corner = (a, b) => {
      const place = [0, 0, 0];
      place[axis] = end;
      place[(axis + 1) % 3] = a;
      place[(axis + 2) % 3] = b;
      return [...place, 0.5, 0.5, axis === 1 && end < 0 ? 0.5 : light];
    };
    return [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]].flatMap(([a, b]) => corner(a, b));
  }));
}

export class Painter {
  constructor(gl) {
    this.gl = gl;
    this.program = this.build();
    this.toClip = gl.getUniformLocation(this.program, 'toClip');
    this.tint = gl.getUniformLocation(this.program, 'tint');
    this.square = this.shape(SQUARE);
    this.cube = this.shape(cube());
    this.plain = this.texture();
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array([255, 255, 255, 255]));
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  build() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(`this browser does not draw: ${gl.getProgramInfoLog(program)}`);
    return program;
  }

  shape(numbers) {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    for (const [index, size, offset] of [[0, 3, 0], [1, 2, 12], [2, 1, 20]]) {
      gl.enableVertexAttribArray(index);
      gl.vertexAttribPointer(index, size, gl.FLOAT, false, 24, offset);
    }
    return { array, count: numbers.length / 6 };
  }

  // A new texture, bound; `fine`: it is looked at from afar as well, and carries text.
  texture({ fine = false } = {}) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, fine ? gl.LINEAR_MIPMAP_LINEAR : gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
  }

  // Puts a picture, a video or a canvas into a texture, all of it on the graphics processor where the browser can.
  fill(texture, source, { fine = false } = {}) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, fine);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, source);
    if (fine) gl.generateMipmap(gl.TEXTURE_2D);
  }

  begin(framebuffer, [red, green, blue, alpha]) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.clearColor(red, green, blue, alpha);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
  }

  look({ x, y, width, height }) {
    this.gl.viewport(x, y, width, height);
  }

  // tint: [red, green, blue, alpha], each 0 to 1; colours count times alpha.
  draw(shape, toClip, texture = this.plain, [red, green, blue, alpha] = [1, 1, 1, 1]) {
    const { gl } = this;
    gl.bindVertexArray(shape.array);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.uniformMatrix4fv(this.toClip, false, toClip);
    gl.uniform4f(this.tint, red * alpha, green * alpha, blue * alpha, alpha);
    gl.drawArrays(shape === this.square ? gl.TRIANGLE_STRIP : gl.TRIANGLES, 0, shape.count);
  }
}
