# nix-build docs/packaging/nix; nix-shell docs/packaging/nix has what a build needs.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "tilewalk";
  version = "0.2.0";
  src = pkgs.lib.cleanSource ../../..;

  nativeBuildInputs = with pkgs; [ meson ninja pkg-config protobufc makeWrapper ];
  buildInputs = with pkgs; [
    cairo cjson cmocka glslang gmp libnats-c libseccomp lua5_4 ncurses openblas protobufc spirv-headers spirv-tools
    sqlite vulkan-headers vulkan-loader xgboost xxHash xz zlib
  ];

  mesonFlags = [ "-Dwerror=false" "-Dbuild=nixpkgs" "-Donnx=${pkgs.python3Packages.onnx.src}/onnx" ];

  # The test programs are left out; what is installed is built all the same.
  buildPhase = "ninja tilewalk docs/man1 docs/tilewalk docs/_tilewalk docs/tilewalk.fish";
  installPhase = "meson install --no-rebuild --quiet";

  # Drivers are found as everywhere on NixOS, below /run/opengl-driver.
  postFixup = "wrapProgram $out/bin/tilewalk --prefix XDG_DATA_DIRS : /run/opengl-driver/share";

  meta = with pkgs.lib; {
    description = "Workbench in the terminal that tunes Vulkan compute kernels";
    license = licenses.mit;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "tilewalk";
  };
}
